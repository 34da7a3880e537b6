export { answerOf, startWorker } from "./worker.ts";
