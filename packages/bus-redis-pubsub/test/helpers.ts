import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Runs the fixture, which opens and uses a bus, and closes it unless `how` ends with "left open"; fails unless the process then exits by itself. */
export async function endsByItself(how: string, host: string, port: number, client: string): Promise<void> {
  const fixture = fileURLToPath(new URL("fixtures/open-and-close.ts", import.meta.url));
  const args = ["--conditions", "@hivepace/source", "--import", "tsx", fixture, how, host, `${port}`, client];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  if (stdout !== "closed\n") throw new Error(`expected the fixture to print "closed", got ${JSON.stringify(stdout)}`);
}
