export { listen } from "./listen.ts";
export { selfSigned } from "./self-signed.ts";
export { bytes, text } from "./text.ts";
export { until } from "./until.ts";
export { answerOf, startWorker } from "./worker.ts";
