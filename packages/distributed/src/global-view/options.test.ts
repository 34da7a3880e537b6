import { expect, test } from "vitest";
import { virtualSwarm } from "../../test/support/virtual.ts";
import { type GlobalViewOptions, startGlobalView } from "../index.ts";

test.each([
  ["manager", { manager: {} }],
  ["store", { store: undefined }],
  ["agentId", { agentId: "" }],
  ["agentId", { agentId: 7 }],
  ["incarnation", { incarnation: "" }],
  ["namespace", { namespace: "" }],
  ["intervalMs", { intervalMs: 0 }],
  ["staleAfterMs", { staleAfterMs: -1 }],
  ["timeoutMs", { timeoutMs: Number.NaN }],
  ["random", { random: 0.5 }],
])("an invalid %s is refused by name (%j)", (option, change) => {
  const { clock, instance } = virtualSwarm();
  const { manager, store } = instance("a");
  const options = { manager, store, agentId: "a", clock, ...change } as GlobalViewOptions;
  expect(() => startGlobalView(options)).toThrow(expect.objectContaining({ code: "INVALID_CONFIG", option }));
});
