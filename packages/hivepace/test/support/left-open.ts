// Run as a separate program: leaves a hive open, and must exit by itself.
import { createHive, observeSwarm } from "../../src/index.ts";

const [, , mode = "", bus = "", namespace = "", sync] = process.argv;

if (mode === "observer") await observeSwarm({ bus, namespace });
else {
  const endpoints = [{ id: "eu", limits: [{ dimension: "requests" as const, limit: 1, windowMs: 1_500 }] }];
  const hive = await createHive({ bus, namespace, agentId: "brief", endpoints, ...(sync && { sync }) });
  if (mode !== "away") await hive.ready();
  process.stdout.write("open\n");
  if (mode === "until-away") {
    // The interval stands for work of the program, which ends when the bus is away.
    const working = setInterval(() => {
      if (hive.status().bus === "ready") return;
      clearInterval(working);
      process.stdout.write("away\n");
    }, 50);
  }
  if (mode === "waiting") {
    (await hive.acquire({ endpoint: "eu" })).done();
    (await hive.acquire({ endpoint: "eu" })).done();
    process.stdout.write("served\n");
  }
}
