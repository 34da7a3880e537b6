import { expect, test } from "vitest";
import { composeCommands, composeService } from "../src/provision/docker.ts";

const place = { port: 21_000, secondPort: 21_001, dir: "/tmp/place" };

test("a service runs in the foreground, with a separate project and port", () => {
  const { command, args, env } = composeCommands("kafka", place, "/tmp/place/override.json");
  expect(command).toBe("docker");
  expect(args.slice(0, 2)).toEqual(["compose", "-f"]);
  expect(args[2]).toMatch(/\/compose\.yaml$/);
  expect(args.slice(3)).toEqual([
    "-f",
    "/tmp/place/override.json",
    "-p",
    "hivepace-kafka-21000",
    "up",
    "--no-color",
    "kafka",
  ]);
  expect(env).toEqual({ KAFKA_PORT: "21000" });
});

test("signals go to the container, and cleanup takes the whole project down", () => {
  const { signals, cleanup } = composeCommands("redis", place, "override.json");
  expect(signals?.SIGKILL.args.slice(-2)).toEqual(["kill", "redis"]);
  expect(signals?.SIGSTOP.args.slice(-2)).toEqual(["pause", "redis"]);
  expect(cleanup?.args.slice(-4)).toEqual(["down", "--volumes", "--timeout", "0"]);
  expect(cleanup?.args).toContain("hivepace-redis-21000");
});

test("files of a server, if any, are mounted as its working directory", () => {
  const changes = { command: ["-c", "nats.conf"] };
  expect(composeService(place, changes, false)).toEqual(changes);
  expect(composeService(place, changes, true)).toEqual({
    ...changes,
    volumes: ["/tmp/place:/hivepace:ro"],
    working_dir: "/hivepace",
  });
});
