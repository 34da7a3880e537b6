import { isHivepaceError } from "@hivepace/core";
import { expect, test } from "vitest";
import { PretendObserver } from "../test/support/pretend-observer.ts";
import { settingsOf } from "./options.ts";

const observer = new PretendObserver();
const control = { id: "cut", label: "Cut", about: "", run: async () => "" };

test("missing options have their defaults", () => {
  const { title, host, port, controls, provider, globalUsage } = settingsOf({ observer });
  expect([title, host, port, controls, provider(), globalUsage]).toEqual([
    "Hivepace",
    "127.0.0.1",
    0,
    [],
    undefined,
    undefined,
  ]);
});

test.each([
  ["options", undefined],
  ["options", null],
  ["observer", {}],
  ["observer", { observer: {} }],
  ["title", { observer, title: " " }],
  ["title", { observer, title: "x".repeat(201) }],
  ["host", { observer, host: "" }],
  ["host", { observer, host: "a b" }],
  ["host", { observer, host: 1 }],
  ["port", { observer, port: -1 }],
  ["port", { observer, port: 65_536 }],
  ["port", { observer, port: 1.5 }],
  ["port", { observer, port: "80" }],
  ["provider", { observer, provider: {} }],
  ["globalUsage", { observer, globalUsage: [] }],
  ["clock", { observer, clock: {} }],
  ["controls", { observer, controls: {} }],
  ["controls[0]", { observer, controls: [null] }],
  ["controls[0].id", { observer, controls: [{ ...control, id: "a/b" }] }],
  ["controls[0].label", { observer, controls: [{ ...control, label: "" }] }],
  ["controls[0].about", { observer, controls: [{ ...control, about: undefined }] }],
  ["controls[0].run", { observer, controls: [{ ...control, run: undefined }] }],
  ["controls[1].id", { observer, controls: [control, control] }],
])("a wrong %s is INVALID_CONFIG and is named", (option, options) => {
  const caught = (() => {
    try {
      return settingsOf(options as never);
    } catch (error) {
      return error;
    }
  })();
  expect(isHivepaceError(caught, "INVALID_CONFIG") && caught.option).toBe(option);
});
