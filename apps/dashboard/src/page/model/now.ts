import { pointsOf } from "../../point.ts";
import type { Point } from "../../wire.ts";
import type { State } from "./state.ts";

/** Returns the history with the current state as its last point, so that charts agree with the figures next to them. */
export function pointsUntilNow({ points, frame }: State): readonly Point[] {
  const last = points.at(-1);
  if (last === undefined || frame.at <= last.at) return points;
  const tracked = new Set(last.resources.map(({ resource }) => resource));
  const resources = pointsOf(
    frame,
    frame.resources.filter(({ resource }) => tracked.has(resource)),
  );
  const provider = last.provider && frame.provider && { ...last.provider, ...usedOf(frame.provider) };
  const { at, members } = frame;
  return [...points, { seq: last.seq, at, members, isBusReady: frame.bus === "ready", resources, provider }];
}

const usedOf = ({ usedRequests, usedTokens }: { usedRequests: number; usedTokens: number }) => ({
  usedRequests,
  usedTokens,
});
