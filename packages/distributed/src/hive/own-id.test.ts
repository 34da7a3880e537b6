import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Machine, takeOwnId } from "./own-id.ts";

let folder: string;
/** Names of running processes, by process id. The present process is `pid`. */
let running: Map<number, string>;
const { pid } = process;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "own-id-"));
  running = new Map([[pid, `${pid} first`]]);
});
afterEach(() => rmSync(folder, { recursive: true }));

const machine = (change: Partial<Machine> = {}): Machine => ({
  env: {},
  hostname: () => "vm",
  program: "1000 /srv/app.js",
  folder,
  processOf: (of) => running.get(of),
  ...change,
});
const takeOwn = () => takeOwnId(machine({ env: { POD_NAME: "worker-7" } }));
const idWith = (env: Machine["env"]) => takeOwnId(machine({ env })).id;

describe("the name of an agent without `agentId`", () => {
  test("is that of the host and the program where the platform gives no other", () => {
    expect(idWith({})).toBe("vm-41f3");
    expect(idWith({ AGENT_ID: " " })).toBe("vm-41f3-2");
    expect(takeOwnId(machine({ program: "1000 /srv/other.js" })).id).toMatch(/^vm-(?!41f3)[0-9a-f]{4}$/);
  });

  test.each([
    [{ AGENT_ID: "a", POD_NAME: "b", HOSTNAME: "c" }, "a"],
    [{ POD_NAME: "api-7d9f-x2x", HOSTNAME: "c" }, "api-7d9f-x2x"],
    [{ FLY_MACHINE_ID: "148ed", HOSTNAME: "c" }, "148ed"],
    [{ HOSTNAME: "3f2504e04f89" }, "3f2504e04f89"],
  ])("prefers what was set for this purpose: %o", (env, id) => {
    expect(idWith(env)).toBe(id);
  });

  test("is cut to the length that an id may have", () => {
    expect(idWith({ AGENT_ID: "h".repeat(1_000) }).length).toBeLessThanOrEqual(200);
  });
});

describe("the place of an agent", () => {
  test("is the lowest that no hive of the machine holds", () => {
    const first = takeOwn();
    const second = takeOwn();
    expect([first.id, second.id, takeOwn().id]).toEqual(["worker-7", "worker-7-2", "worker-7-3"]);
    second.release();
    expect(takeOwn().id).toBe("worker-7-2");
  });

  test("of a process that ended is taken by the next one", () => {
    takeOwn();
    takeOwn();
    running.set(pid, `${pid} second`);
    expect([takeOwn().id, takeOwn().id]).toEqual(["worker-7", "worker-7-2"]);
    expect(readdirSync(folder).sort()).toEqual(["worker-7@1.2", "worker-7@2.2"]);
  });

  test("is not taken from a running process, nor while one is marking it", () => {
    running.set(1_000_000, "1000000 other");
    writeFileSync(join(folder, "worker-7@1.3"), "1000000 other");
    writeFileSync(join(folder, "worker-7@2.1"), "");
    expect(takeOwn().id).toBe("worker-7-3");
  });

  test("is free again after a release, and a second release takes nothing from others", () => {
    const first = takeOwn();
    first.release();
    const next = takeOwn();
    first.release();
    expect(next.id).toBe("worker-7");
    // The next hive has marked the place with the same file, so a release must happen once.
    expect(takeOwn().id).toBe("worker-7-2");
  });
});

describe("a random id", () => {
  const random = (name: string) => new RegExp(`^${name}-${pid}-[0-9a-f]{8}$`);

  test("is used where files cannot be written", () => {
    writeFileSync(join(folder, "file"), "");
    const denied = machine({ folder: join(folder, "file") });
    expect(takeOwnId(denied).id).toMatch(random("vm-[0-9a-f]{4}"));
    expect(takeOwnId(denied).id).not.toBe(takeOwnId(denied).id);
  });

  test("is used where the host has no name or the runtime denies it", () => {
    expect(takeOwnId(machine({ hostname: () => "localhost" })).id).toMatch(random("host"));
    const denied = machine({
      hostname: () => {
        throw new Error('Requires sys access to "hostname"');
      },
    });
    expect(takeOwnId(denied).id).toMatch(random("host"));
  });
});

test("the real machine gives an id, and takes it back", () => {
  const env = { AGENT_ID: `test-${pid}` };
  const real = takeOwnId();
  expect(real.id).not.toBe("");
  real.release();
  expect(takeOwnId(machine({ env })).id).toBe(`test-${pid}`);
});
