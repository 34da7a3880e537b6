import type { World } from "../../src/command/world.ts";

/** A world that records its output. */
export function fakeWorld(env: World["env"] = {}, signal: AbortSignal = new AbortController().signal) {
  const written = { out: "", err: "" };
  const world: World = {
    stdout: { write: (text) => (written.out += text) },
    stderr: { write: (text) => (written.err += text) },
    env,
    signal,
  };
  return { world, written };
}
