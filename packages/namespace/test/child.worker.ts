import { parentPort } from "node:worker_threads";
import { resolveNamespace } from "@hivepace/namespace";

const answer = resolveNamespace();
if (parentPort) parentPort.postMessage(answer);
else process.stdout.write(JSON.stringify(answer));
