import { expect, test } from "vitest";
import { natsName } from "./subject-names.ts";

test.each([
  ["ratelimit.capacity", "ratelimit.capacity"],
  ["default.ratelimit.capacity", "default.ratelimit.capacity"],
  ["a_b.$c.d-e:f/g?[h]{i}", "a_b.$c.d-e:f/g?[h]{i}"],
  ["ä.日本.🐝", "ä.日本.🐝"],
])("an ordinary subject is not changed: %s", (subject, name) => {
  expect(natsName(subject)).toBe(name);
});

// biome-ignore format: a table
test.each([
  ["*", "%2A"], ["a.>", "a.%3E"], ["a*b", "a%2Ab"], ["a b", "a%20b"], [" ", "%20"], ["%2E", "%252E"],
  [".", "%2E"], ["..", "%2E%2E"], [".a", "%2Ea"], ["a.", "a%2E"], ["a..b", "a.%2Eb"], ["a..", "a.%2E"],
  ["$SYS.x", "%24SYS.x"], ["_INBOX.x", "%5FINBOX.x"], ["__proto__", "%5F_proto__"],
])("characters that NATS would interpret are escaped: %s", (subject, name) => {
  expect(natsName(subject)).toBe(name);
  expect(decodeURIComponent(name)).toBe(subject);
});

test("no name has an empty token, a wildcard, a space or a reserved beginning, and every name decodes to its subject", () => {
  const letters = [".", "*", ">", " ", "%", "$", "_", "a", "é"];
  let subjects = [""];
  for (let length = 1; length <= 5; length++) {
    subjects = subjects.flatMap((start) => letters.map((letter) => start + letter));
    for (const subject of subjects) {
      const name = natsName(subject);
      if (/[*> ]|^\.|\.\.|\.$|^[$_]/.test(name) || decodeURIComponent(name) !== subject)
        expect.fail(`${subject} became ${name}`);
    }
  }
});
