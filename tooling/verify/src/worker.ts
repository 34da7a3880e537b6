/** A worker process: runs one case at a time, as its parent requests them. */
import { inspect } from "node:util";
import { casesOf } from "./discover.ts";
import type { Answer, Question } from "./worker-pool.ts";

const answer = (message: Answer): unknown => process.send?.(message);

process.on("message", ({ file, id }: Question) => void run(file, id).then(answer));
// A worker without a parent has no purpose.
process.on("disconnect", () => process.exit());

async function run(file: string, id: string): Promise<Answer> {
  try {
    const found = (await casesOf(file)).find((each) => each.id === id);
    if (!found) throw new Error(`${file} has no case ${id}`);
    return { id, result: await found.run() };
  } catch (error) {
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : inspect(error) };
  }
}
