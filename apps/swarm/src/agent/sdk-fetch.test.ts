import { systemClock } from "@hivepace/core";
import { expect, test } from "vitest";
import { sleeper } from "../lapse-clock.ts";
import { sdkFetch } from "./sdk-fetch.ts";

const sleep = sleeper(systemClock);
const refused = (headers: Record<string, string> = { "retry-after-ms": "1" }) =>
  new Response("", { status: 429, headers });

test("a refused call is retried twice, and not more often", async () => {
  let sent = 0;
  const call = sdkFetch(
    () => 0,
    sleep,
    async () => {
      sent++;
      return refused();
    },
  );
  expect((await call("http://a", {})).status).toBe(429);
  expect(sent).toBe(3);
});

test("an answered call is not sent again", async () => {
  const answers = [refused(), new Response("", { status: 200 }), new Response("", { status: 500 })];
  const call = sdkFetch(
    () => 0,
    sleep,
    async () => answers.shift() as Response,
  );
  expect((await call("http://a", {})).status).toBe(200);
  expect((await call("http://a", {})).status).toBe(500);
});

test("an abort ends the wait", async () => {
  const stop = new AbortController();
  const call = sdkFetch(
    () => 0,
    sleep,
    async () => {
      queueMicrotask(() => stop.abort());
      return refused({ "retry-after": "50" });
    },
  );
  await expect(call("http://a", { signal: stop.signal })).rejects.toMatchObject({ name: "AbortError" });
});
