import { limit } from "../limit.ts";
import type { AsyncOp, AsyncSuite, Contender } from "../suite.ts";
import { acquire, asyncContenders } from "./acquire.ts";

const AT_ONCE = 100;

/** Wraps a contender to make a hundred requests before awaiting any. */
function manyAtOnce(contender: Contender<AsyncOp>): Contender<AsyncOp> {
  const { name } = contender;
  return {
    name,
    setup() {
      const { op, close } = contender.setup();
      const many = () => {
        const asked: Promise<unknown>[] = [];
        for (let i = 0; i < AT_ONCE; i++) asked.push(op());
        return Promise.all(asked);
      };
      return { op: many, requests: AT_ONCE, ...(close ? { close } : {}) };
    },
  };
}

/** Batching amortizes the turn of the event loop, so that the work of each library remains. */
export const acquireMany: AsyncSuite = {
  kind: "async",
  name: "acquire-many",
  title: `${AT_ONCE} requests at once that need not wait, then one Promise.all; the time of one of them.`,
  capacity: limit.tokens / 2,
  reference: acquire.reference,
  contenders: asyncContenders.map(manyAtOnce),
  wanted: [],
};
