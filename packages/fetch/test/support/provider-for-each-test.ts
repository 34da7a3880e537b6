import { type FakeProvider, startProvider } from "@hivepace/provider";
import { afterEach, beforeEach } from "vitest";
import { LocalGate } from "./local-gate.ts";

/** A provider and a gate, new for each test of the suite that calls this. */
export function providerForEachTest(): { readonly provider: FakeProvider; readonly gate: LocalGate } {
  let now: { provider: FakeProvider; gate: LocalGate };
  beforeEach(async () => {
    now = { provider: await startProvider(), gate: new LocalGate() };
  });
  afterEach(async () => {
    await now.gate.close();
    await now.provider.close();
  });
  return {
    get provider() {
      return now.provider;
    },
    get gate() {
      return now.gate;
    },
  };
}
