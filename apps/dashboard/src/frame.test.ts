import { ManualClock } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import { agent, PretendObserver, resource, use } from "../test/support/pretend-observer.ts";
import { frameOf } from "./frame.ts";

const clock = new ManualClock({ epochMs: 5_000 });
const sources = (observer: PretendObserver) => ({ observer, clock, provider: () => undefined, globalUsage: undefined });
const unlimited = { dimension: undefined, limit: Infinity, total: Infinity, used: 1, usedSince: 1, waiting: 0 };

test("an infinite limit is null, also after JSON, and figures are rounded", () => {
  const observer = new PretendObserver();
  const uses = [use("a", { used: [1 / 3], share: [Infinity] })];
  const one = resource({ limits: [unlimited], agents: uses });
  observer.now = { ...observer.now, agents: [agent("a")], resources: [one] };
  const frame = frameOf(sources(observer), undefined);
  expect(frame.at).toBe(5_000);
  expect(frame.resources[0]?.limits[0]).toMatchObject({ limit: null, total: null, used: 1 });
  expect(frame.resources[0]?.agents[0]?.used).toEqual([0.33]);
  expect(JSON.parse(JSON.stringify(frame)).resources[0].agents[0].share).toEqual([null]);
});

test("a failing observer keeps the last known state and reports the error; the rest is updated", () => {
  const observer = new PretendObserver();
  observer.now = { ...observer.now, members: 7 };
  const before = frameOf(sources(observer), undefined);
  observer.snapshot = () => {
    throw new Error("broken");
  };
  const usage = [{ endpoint: "e", rpm: 1, tpm: 2, utilization: 0.5, agents: 1, ageMs: 3 }];
  const after = frameOf({ ...sources(observer), globalUsage: () => usage }, before);
  expect([after.members, after.trouble, after.globalUsage]).toEqual([7, "observer: broken", usage]);
  expect(frameOf(sources(observer), undefined)).toMatchObject({ members: 0, bus: "closed" });
});

test("a failing provider or store does not affect the rest", () => {
  const observer = new PretendObserver();
  const fail = (): never => {
    throw "no";
  };
  const frame = frameOf({ ...sources(observer), provider: fail, globalUsage: fail }, undefined);
  expect(frame).toMatchObject({ bus: "ready", globalUsage: [], trouble: "provider: no; globalUsage: no" });
  expect(frame.provider).toBeUndefined();
});
