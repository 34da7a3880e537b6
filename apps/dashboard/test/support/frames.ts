import type { Frame, LimitFrame, LoggedEvent, Point, ResourceFrame } from "../../src/wire.ts";
import { agent, use } from "./pretend-observer.ts";

export const limitFrame = (change: Partial<LimitFrame> = {}): LimitFrame => ({
  dimension: "requests",
  limit: 100,
  total: 100,
  used: 40,
  usedSince: 400,
  waiting: 0,
  ...change,
});

export const resourceFrame = (change: Partial<ResourceFrame> = {}): ResourceFrame => ({
  resource: "openai",
  windowMs: 60_000,
  limits: [limitFrame()],
  level: 1,
  pausedForMs: 0,
  agents: [use("a"), use("b")],
  ...change,
});

export const frame = (change: Partial<Frame> = {}): Frame => ({
  at: 1_000_000,
  bus: "ready",
  observedMs: 10_000,
  members: 2,
  agents: [agent("a"), agent("b")],
  resources: [resourceFrame()],
  keys: [],
  keyCount: 0,
  availability: [],
  received: 20,
  ignored: {},
  ...change,
});

export const point = (seq: number, change: Partial<Point> = {}): Point => ({
  seq,
  at: seq * 1_000,
  isBusReady: true,
  members: 2,
  resources: [{ resource: "openai", level: 1, limits: [[100, 100, seq, 0, 0]] }],
  ...change,
});

export const logged = (seq: number, event: LoggedEvent["event"], at = seq * 1_000): LoggedEvent => ({ seq, at, event });
