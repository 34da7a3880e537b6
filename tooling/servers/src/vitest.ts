import { afterAll, beforeAll, describe, inject } from "vitest";
import type { Availability } from "./availability.ts";
import type { ServerOptions } from "./ensure.ts";
import type { Kind, ServerKind } from "./kinds.ts";
import { type Chromium, findChromium } from "./recipes/chromium.ts";
import { type OwnServer, type Server, startOwnServer, startServer } from "./server.ts";
import type {} from "./vitest-setup.ts";

/**
 * Returns the reason why tests that need this cannot run; `undefined` when they can. For `describe.skipIf` and
 * `test.skipIf`.
 */
export function whyNot(kind: Kind, { own = false } = {}): string | undefined {
  const all: readonly Availability[] | undefined = inject("hivepaceServers");
  const found = all?.find((availability) => availability.kind === kind);
  const has = own ? found?.own : found?.any;
  return has === undefined ? (found?.missing ?? `${kind} was not set up for this Vitest project`) : undefined;
}

/** A `describe` with any server of this kind, started before its tests and stopped after them; skipped without one. */
export function describeServer(kind: ServerKind, body: (server: () => Server) => void): void {
  describeWith(kind, whyNot(kind), () => startServer(kind), body);
}

/** Like `describeServer`, with a server that the tests may kill, restart and configure. */
export function describeOwnServer<K extends ServerKind>(
  kind: K,
  body: (server: () => OwnServer) => void,
  options?: ServerOptions[K],
): void {
  describeWith(kind, whyNot(kind, { own: true }), () => startOwnServer(kind, options), body);
}

/** A `describe` with a browser for Playwright: `await chromium.launch(browser())`. */
export function describeChromium(body: (browser: () => Chromium) => void): void {
  const find = async () => ({ ...(await findChromium()), stop: async () => {} });
  describeWith("chromium", whyNot("chromium"), find, body);
}

function describeWith<T extends { stop(): Promise<void> }>(
  kind: Kind,
  reason: string | undefined,
  open: () => Promise<T>,
  body: (get: () => T) => void,
): void {
  describe.skipIf(reason !== undefined)(reason === undefined ? `with ${kind}` : `skipped: ${reason}`, () => {
    let opened: T | undefined;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.stop());
    body(() => {
      if (opened === undefined)
        throw new Error(`${kind} can be used only inside tests and hooks, not while tests are collected`);
      return opened;
    });
  });
}

/** For a bus suite: kills the server, runs the callback, and starts the server again at the same address. */
export function killAndStart(server: () => OwnServer): (whileAway?: () => Promise<void>) => Promise<void> {
  return async (whileAway) => {
    await server().kill();
    await whileAway?.();
    await server().start();
  };
}
