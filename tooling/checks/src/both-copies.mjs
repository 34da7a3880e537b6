/**
 * Loads both builds of the packages into one process and passes objects of one to the other. Runs next to installed
 * packages: `node both-copies.mjs <entries as JSON>`.
 */
import assert from "node:assert/strict";
import { subscribe } from "node:diagnostics_channel";
import { EventEmitter, getEventListeners, once } from "node:events";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const entries = JSON.parse(process.argv[2]);
const esm = await import("hivepace");
const cjs = require("hivepace");

const endpoints = [{ id: "api", rpmLimit: 1_000 }];
const options = { namespace: "both-copies", endpoints };

const checks = {
  "these are two copies": () => assert.notEqual(esm.MemoryLimiter, cjs.MemoryLimiter),

  "every entry exports the same names": async () => {
    for (const entry of entries) {
      const imported = Object.keys(await import(entry)).sort();
      const required = Object.keys(require(entry)).filter((name) => name !== "__esModule");
      assert.deepEqual(required.sort(), imported, entry);
    }
  },

  "instanceof and the guard know the errors of the other copy": async () => {
    const names = new Set();
    for (const entry of entries) {
      const [one, other] = [await import(entry), require(entry)];
      for (const name of Object.keys(one).filter((each) => /[a-z]Error$/.test(each) && /^[A-Z]/.test(each))) {
        for (const [here, there] of [
          [one[name], other[name]],
          [other[name], one[name]],
        ]) {
          const error = new here("x", "y");
          assert.notEqual(here, there, name);
          assert(error instanceof there, name);
          assert(esm.isHivepaceError(error, error.code) && cjs.isHivepaceError(error, error.code), name);
          assert.equal(name !== "InvalidWindowError" && error instanceof esm.InvalidWindowError, false, name);
        }
        names.add(name);
      }
    }
    assert(names.size >= 13, `only ${[...names]}`);
  },

  "buses on one broker hear each other, and so do hives on them": async () => {
    const broker = esm.memoryBroker();
    await sameSwarm(esm.memoryBus(broker), cjs.memoryBus(broker));
  },

  "thread brokers of one name are one broker": () =>
    sameSwarm(esm.memoryBus(esm.threadBroker("copies")), cjs.memoryBus(cjs.threadBroker("copies"))),

  "a hive of one copy lives on a bus and feeds a fetch of the other": async () => {
    const hive = await esm.createHive({ ...options, bus: cjs.memoryBus() });
    const fetch = cjs.createLimitedFetch(hive, {
      fetch: async () => new Response("{}", { headers: { "content-type": "application/json" } }),
      endpoint: "api",
    });
    assert.equal((await fetch("https://api.example.com/v1")).status, 200);
    assert.equal(hive.explain("api").limits[0]?.used, 1);
    await hive.close();
  },

  "counters that one copy shares are counted on by the other": () => {
    const first = new esm.RateManager({ clock: cjs.systemClock });
    first.setEndpoint(endpoints[0]);
    const second = new cjs.RateManager({ shared: first.share() });
    first.check({ endpoint: "api", tokens: 1 });
    second.check({ endpoint: "api", tokens: 1 });
    assert.equal(first.snapshot().endpoints.find(({ id }) => id === "api")?.requests, 2);
  },

  "there is one system clock, and one listener for a signal": async () => {
    assert.equal(esm.systemClock, cjs.systemClock);
    const abort = new AbortController();
    const limiters = [new esm.MemoryLimiter(), new cjs.MemoryLimiter()];
    const waits = limiters.map((limiter) => {
      limiter.setCapacity("api", 1, 60_000);
      limiter.tryAcquire("api");
      return assert.rejects(limiter.acquire("api", { signal: abort.signal }), { name: "AbortError" });
    });
    assert.equal(getEventListeners(abort.signal, "abort").length, 1);
    abort.abort();
    await Promise.all(waits);
    await Promise.all(limiters.map((limiter) => limiter.close()));
  },

  "events and warnings of both come in one place": async () => {
    const granted = [];
    subscribe(esm.channelNames.granted, (event) => granted.push(event));
    const warnings = new EventEmitter();
    process.on("warning", ({ code }) => warnings.emit(code));
    for (const { MemoryLimiter, memoryBroker, memoryBus } of [esm, cjs]) {
      const limiter = new MemoryLimiter();
      limiter.setCapacity("api", 1, 60_000);
      limiter.tryAcquire("api");
      await limiter.close();
      const bus = await memoryBus(memoryBroker());
      const warned = once(warnings, "HIVEPACE_HANDLER_THREW");
      await bus.subscribe("s", () => {
        throw new Error("on purpose");
      });
      await bus.publish("s", new Uint8Array(1));
      await warned;
      await bus.close();
    }
    assert.equal(granted.length, 2);
  },
};

/** Resolves when hives of both copies on these buses are members of one swarm, and an observer has seen both. */
async function sameSwarm(busOfOne, busOfOther) {
  const seen = new Set();
  const observed = await busOfOther;
  const observer = await cjs.observeSwarm({ bus: observed, namespace: options.namespace });
  const hives = await Promise.all([
    esm.createHive({ ...options, agentId: "one", bus: busOfOne }),
    cjs.createHive({ ...options, agentId: "other", bus: observed }),
  ]);
  while (seen.size < 2 || hives.some((hive) => hive.status().members < 2)) {
    for (const { agentId } of observer.snapshot().agents) seen.add(agentId);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await Promise.all(hives.map((hive) => hive.close()));
  await observer.close();
  await observed.close();
}

for (const [name, check] of Object.entries(checks)) {
  await check();
  console.log(name);
}
