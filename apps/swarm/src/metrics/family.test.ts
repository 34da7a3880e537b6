import { expect, test } from "vitest";
import { type Family, textOf } from "./family.ts";

const family = (name: string, agentId: string): Family => ({
  name,
  head: `# HELP ${name} Its own.\n# TYPE ${name} gauge\n`,
  samples: `${name}{instance="${agentId}"} 1\n`,
});

test("samples of several agents are grouped below one head", () => {
  const text = textOf([[family("a", "one"), family("b", "one")], [family("b", "two")], [family("a", "three")]]);
  expect(text.split("\n")).toEqual([
    "# HELP a Its own.",
    "# TYPE a gauge",
    'a{instance="one"} 1',
    'a{instance="three"} 1',
    "# HELP b Its own.",
    "# TYPE b gauge",
    'b{instance="one"} 1',
    'b{instance="two"} 1',
    "",
  ]);
});

test("without metrics the text is empty", () => {
  expect(textOf([])).toBe("");
  expect(textOf([[], []])).toBe("");
});
