import { expect, test } from "vitest";
import { mockPort } from "../src/recipes/kafka.ts";
import { pom } from "../src/recipes/kafka-jars.ts";
import { kafkaProperties, propertiesEnvironment } from "../src/recipes/kafka-properties.ts";
import { natsArgs } from "../src/recipes/nats.ts";
import { redisArgs } from "../src/recipes/redis.ts";

const place = { port: 21_000, secondPort: 21_001, dir: "/tmp/place" };

test("redis listens on loopback, persists nothing, and the caller's arguments come last", () => {
  const args = redisArgs(place, { args: ["--appendonly", "yes"] });
  expect(args.join(" ")).toContain("--bind 127.0.0.1 --port 21000");
  expect(args.slice(-2)).toEqual(["--appendonly", "yes"]);
});

test("nats listens on loopback and reads a configuration only when one is given", () => {
  expect(natsArgs(place, {})).toEqual(["-a", "127.0.0.1", "-p", "21000"]);
  expect(natsArgs(place, { config: "authorization { token: x }" })).toContain("nats.conf");
});

test("kafka's properties can be overridden one by one", () => {
  const properties = kafkaProperties(place, { "group.initial.rebalance.delay.ms": "3000" });
  expect(properties["group.initial.rebalance.delay.ms"]).toBe("3000");
  expect(properties["advertised.listeners"]).toBe("PLAINTEXT://127.0.0.1:21000");
});

test("kafka's image takes properties as variables", () => {
  expect(propertiesEnvironment({ "num.partitions": "3" })).toEqual({ KAFKA_NUM_PARTITIONS: "3" });
});

test("a pom lists its dependencies", () => {
  expect(pom({ "org.example:thing": "1.2" })).toContain(
    "<groupId>org.example</groupId><artifactId>thing</artifactId><version>1.2</version>",
  );
});

test("the mock cluster's port is read from its log", () => {
  expect(mockPort("%7|MOCK| Mock cluster x bootstrap.servers=127.0.0.1:34113\n%5|…")).toBe(34_113);
  expect(mockPort("nothing yet")).toBeUndefined();
});
