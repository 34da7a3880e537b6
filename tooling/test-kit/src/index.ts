export { type Heard, hear } from "./hear.ts";
export { listen } from "./listen.ts";
export { selfSigned } from "./self-signed.ts";
export { startSentinel } from "./sentinel.ts";
export { type TcpProxy, tcpProxy } from "./tcp-proxy.ts";
export { bytes, text } from "./text.ts";
export { until } from "./until.ts";
export { warnings } from "./warnings.ts";
export { answerOf, startWorker } from "./worker.ts";
