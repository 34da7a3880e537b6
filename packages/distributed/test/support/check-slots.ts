import { type SlotSwarmOptions, simulateSlots } from "../../src/testing/slot-swarm.ts";

/**
 * Runs a swarm whose callers rest at the end, and checks that all slots are free then. Returns the largest number of
 * calls above the limit: none while agents receive each other's messages, and few when an agent starts or joins again
 * behind a partition. Throws with the options, which repeat the run.
 */
export async function checkSlots(options: SlotSwarmOptions): Promise<number> {
  const report = await simulateSlots(options);
  const fail = (why: string): never => {
    throw new Error(`${why}: ${JSON.stringify({ report, options })}`);
  };
  if (report.inFlight > 0) fail("calls are still under way");
  if (report.known.some((used) => used !== 0)) fail("slots are held by nobody");
  if (report.calls < 10) fail("slots were lost");
  const beyond = Math.max(0, report.most - options.slots);
  const isHeard = !options.faults?.some(({ type }) => type === "cut" || type === "bus-down");
  if (beyond > (isHeard ? 0 : Math.max(2, options.slots / 2))) fail(`${beyond} calls too many were under way`);
  return beyond;
}
