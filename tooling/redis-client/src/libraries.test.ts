import { expect, test } from "vitest";
import { openerOf } from "./libraries.ts";
import { redisPlace } from "./options.ts";

const missing = (name: string): Error =>
  Object.assign(new Error(`Cannot find package '${name}'`), { code: "ERR_MODULE_NOT_FOUND" });
const library = { Redis: class {}, Cluster: class {}, createClient: () => ({}), createCluster: () => ({}) };

test("without any library the error names both packages and the reason", async () => {
  const opening = openerOf(redisPlace({}), 1_000, (name) => Promise.reject(missing(name)));
  await expect(opening).rejects.toThrow(/npm install ioredis \(or npm install redis\) \(import failed: .+\)$/);
});

test.each(["ioredis", "redis"] as const)(
  "without the requested library %s the error names that library only",
  async (client) => {
    const load = (name: string) => (name === client ? Promise.reject(missing(name)) : Promise.resolve(library));
    const opening = openerOf(redisPlace({ client }), 1_000, load);
    await expect(opening).rejects.toThrow(`npm install ${client} (import failed: Cannot find package '${client}')`);
  },
);

test("the first installed library is used", async () => {
  const asked: string[] = [];
  const load = (name: string) => {
    asked.push(name);
    return name === "redis" ? Promise.resolve(library) : Promise.reject(missing(name));
  };
  await openerOf(redisPlace({}), 1_000, load);
  expect(asked).toEqual(["ioredis", "redis"]);
});

test("a library that fails to load is reported if there is no other", async () => {
  const load = (name: string) => Promise.reject(name === "ioredis" ? new Error("broken") : missing(name));
  await expect(openerOf(redisPlace({}), 1_000, load)).rejects.toThrow("import failed: broken");
});

test("an option that node-redis would ignore is rejected with an error that names the option", async () => {
  const opening = openerOf(redisPlace({ client: "redis", keyPrefix: "mine:" }), 1_000, () => Promise.resolve(library));
  await expect(opening).rejects.toMatchObject({ code: "INVALID_CONFIG", option: "keyPrefix" });
});
