import { inspect } from "node:util";
import { expect, test } from "vitest";
import { InvalidConfigError, SyncUnavailableError } from "./index.ts";
import { messageOf, redact, redactAddress, redactOption, safeError } from "./redact.ts";

const everything = (value: unknown) => inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true });

test.each([
  ["redis://me:secret@a:1/0", "redis://…@a:1/0"],
  ["redis://me:se/c?r#et@a", "redis://…@a"],
  ["redis://me:p@secret@a", "redis://…@a"],
  ["redis://me:se cret\nsecret@a", "redis://…@a"],
  ["me:secret@a", "…@a"],
  ["nats://token-secret@a,b", "nats://…@a,b"],
  ["nats://a:1", "nats://a:1"],
])("%j is shown without its credentials", (address, shown) => {
  expect(redactAddress(address)).toBe(shown);
});

test("the credentials of URLs within a text are hidden, and paths with an @ stay unchanged", () => {
  const text = "cannot reach redis://a:s/e@b:1 nor (nats://t@c): file:///x/node_modules/@a/b.js:1:2";
  expect(redact(text)).toBe("cannot reach redis://…@b:1 nor (nats://…@c): file:///x/node_modules/@a/b.js:1:2");
});

test("the arguments of an unknown AUTH command that Redis repeats are hidden", () => {
  const text = "ERR unknown command 'AUTH', with args beginning with: 'me' 'secret' ";
  expect(redact(text)).toBe("ERR unknown command 'AUTH', with args beginning with: (hidden)");
});

test.each([
  ["password", "hunter2"],
  ["sasl.password", "hunter2"],
  ["secret", ["hunter2", "hunter2"]],
  ["url", "me:hunter2@a"],
  ["servers[0]", "me:hunter2@a"],
  ["sasl", { mechanism: 7, password: "hunter2" }],
  ["tls", { key: "hunter2", passphrase: "hunter2", nested: [{ token: "hunter2" }] }],
  [
    "source",
    new (class Client {
      options = { password: "hunter2" };
    })(),
  ],
  ["source", () => "hunter2"],
  ["cluster.nodes", ["redis://me:hunter2@a"]],
])("an error about %s does not contain the secret", (option, value) => {
  const error = new InvalidConfigError(option, "something else", value);
  expect(everything(error)).not.toContain("hunter2");
  expect(JSON.stringify([error, error.value])).not.toContain("hunter2");
});

test("values that are not secret stay unchanged", () => {
  expect(redactOption("limits", [1, "a", { b: null, c: undefined }])).toEqual([1, "a", { b: null, c: undefined }]);
  expect(redactOption("tokens", -1)).toBe(-1);
  expect(redactOption("tokens", "1600")).toBe("1600");
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  expect(everything(redactOption("circular", circular))).toContain("…");
  const hostile = Object.defineProperty({}, "x", { enumerable: true, get: () => JSON.parse("") });
  expect(redactOption("hostile", hostile)).toBe("an object");
});

class ReplyError extends Error {
  command = { name: "auth", args: ["me", "secret"] };
}

test("the copied cause keeps its class, message and codes, and none of its arguments", () => {
  const inner = Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: "redis://me:secret@a" });
  const outer = Object.assign(new ReplyError("at redis://me:secret@a", { cause: inner }), {
    code: "ECONNREFUSED",
    port: 1,
    errors: [new AggregateError([inner], "all"), "redis://me:secret@b"],
    socket: { password: "secret" },
  });
  const error = new SyncUnavailableError("redis", "no redis://me:secret@a", { cause: outer });
  expect(everything(error)).not.toContain("secret");
  expect(error.cause).toBeInstanceOf(ReplyError);
  expect(error.cause).toMatchObject({ code: "ECONNREFUSED", port: 1, message: "at redis://…@a" });
  expect((error.cause as Error).cause).toBeInstanceOf(TypeError);
  expect(inspect(error)).toContain("redact.test.ts");
});

test("a Hivepace error is not copied, and a circular cause terminates", () => {
  const ours = new InvalidConfigError("a", "b", 1);
  expect(safeError(ours)).toBe(ours);
  const endless = new Error("endless");
  endless.cause = endless;
  expect(everything(safeError(endless))).toContain("endless");
});

test("messageOf returns the message or the code of an error, without credentials", () => {
  expect(messageOf(new Error("at redis://me:secret@a"))).toBe("at redis://…@a");
  expect(messageOf(Object.assign(new Error(""), { code: "ECONNREFUSED" }))).toBe("ECONNREFUSED");
  expect(messageOf("text")).toBe("text");
  expect(messageOf(undefined)).toBe("undefined");
});
