import { createHive } from "@hivepace/distributed";
import { afterEach, expect, test, vi } from "vitest";

afterEach(() => vi.unstubAllEnvs());

const endpoints = [{ id: "api", rpmLimit: 100 }];

test("a hive without an id has the name of its pod, and the next hive of the pod has it again", async () => {
  vi.stubEnv("AGENT_ID", `pod-${process.pid}`);
  const first = await createHive({ endpoints });
  const beside = await createHive({ endpoints });
  expect([first.agentId, beside.agentId]).toEqual([`pod-${process.pid}`, `pod-${process.pid}-2`]);
  await first.close();
  const again = await createHive({ endpoints });
  expect(again.agentId).toBe(`pod-${process.pid}`);
  await Promise.all([again.close(), beside.close()]);
});

test("a hive that could not be created keeps no name", async () => {
  vi.stubEnv("AGENT_ID", `failing-${process.pid}`);
  await expect(createHive({ endpoints: [{ id: "api", rpmLimit: -1 }] })).rejects.toMatchObject({
    code: "INVALID_CONFIG",
  });
  await using hive = await createHive({ endpoints });
  expect(hive.agentId).toBe(`failing-${process.pid}`);
});

test("an id that is given is used as it is", async () => {
  vi.stubEnv("AGENT_ID", "ignored");
  await using hive = await createHive({ endpoints, agentId: "given" });
  expect(hive.agentId).toBe("given");
});
