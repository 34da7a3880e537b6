import { expect, test } from "vitest";
import { NotHereError } from "../src/errors.ts";
import { firstFound } from "../src/provision/source.ts";

const has = (value: string) => async () => value;
const hasNot = (reason: string) => async (): Promise<string> => {
  throw new NotHereError(reason);
};

test("the first successful source wins, and later ones are not tried", async () => {
  const sources = [
    { origin: "path", find: hasNot("not on the PATH") },
    { origin: "cache", find: has("cached") },
    {
      origin: "docker",
      find: async (): Promise<string> => {
        throw new Error("was asked");
      },
    },
  ] as const;
  expect(await firstFound("redis", sources)).toEqual({ origin: "cache", value: "cached", missed: ["not on the PATH"] });
});

test("without a source the error is one line with every reason and how to get the server", async () => {
  const sources = [
    { origin: "path", find: hasNot("not on the PATH") },
    { origin: "docker", find: hasNot("no engine") },
  ] as const;
  const error = await firstFound("redis", sources).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "SERVER_UNAVAILABLE", kind: "redis", reasons: ["not on the PATH", "no engine"] });
  expect(String(error)).toMatch(/not on the PATH; no engine.*To get it: .*REDIS_URL/);
  expect(String(error)).not.toContain("\n");
});

test("an error other than NotHereError ends the search", async () => {
  const broken = async (): Promise<string> => {
    throw new Error("REDIS_URL is wrong");
  };
  const sources = [
    { origin: "address", find: broken },
    { origin: "path", find: has("other") },
  ] as const;
  await expect(firstFound("redis", sources)).rejects.toThrow("REDIS_URL is wrong");
});
