import { expect, test } from "vitest";
import { cli } from "./support/cli.ts";

test("the demo runs to its end in a real process and prints JSON", async () => {
  const { out } = await cli(["demo", "--duration", "10", "--agents", "3", "--scenario", "calm", "--json"]);
  expect(JSON.parse(out)).toMatchObject({ agents: 3 });
});
