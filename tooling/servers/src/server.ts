import type { GivenAddress } from "./address.ts";
import { findAddress, findProgram, recipes, type ServerOptions } from "./ensure.ts";
import { StartFailedError } from "./errors.ts";
import type { ServerKind } from "./kinds.ts";
import { GuardedProcess } from "./process/guarded-process.ts";
import { claimPlace } from "./process/place.ts";
import { RunningServer } from "./process/running-server.ts";
import type { Found, Origin } from "./provision/source.ts";
import type { Program } from "./recipes/recipe.ts";

const ATTEMPTS = 3;

/** A server that answers. Whoever started it stops it. */
export interface Server extends AsyncDisposable {
  readonly kind: ServerKind;
  readonly origin: Origin;
  readonly host: string;
  readonly port: number;
  /** `redis://host:port`, `nats://host:port`, or Kafka's `host:port`; as given where the environment gave it. */
  readonly url: string;
  /** What it cannot carry, where it is a stand-in. */
  readonly limits?: string;
  /** Ends it and removes its folder; a server that only the environment named is left alone. May be called twice. */
  stop(): Promise<void>;
}

/** A server of our own: it may be hurt. It keeps its port and its folder until `stop`. */
export interface OwnServer extends Server {
  /** Of the process that runs now; none while it is down. */
  readonly pid: number | undefined;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves when the process is gone. */
  shutDown(): Promise<void>;
  /** After `kill` or `shutDown`; resolves when it answers again. */
  start(): Promise<void>;
  /** `shutDown` and `start`. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers, as in a network that swallows packets. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

/** Any server of this kind that can be had: one that is given, one of our own, or a stand-in (see `limits`). */
export async function startServer(kind: ServerKind): Promise<Server> {
  const given = await findAddress(kind);
  if (given !== undefined) return lentServer(kind, given);
  return startProgram(kind, await findProgram(kind, { own: false }), {});
}

/** A server of our own, set up as the options say; never one that is given, never a stand-in. */
export async function startOwnServer<K extends ServerKind>(kind: K, options?: ServerOptions[K]): Promise<OwnServer> {
  return startProgram(kind, await findProgram(kind, { own: true }), options ?? {});
}

function lentServer(kind: ServerKind, { url, host, port }: GivenAddress): Server {
  const stop = async (): Promise<void> => {};
  return { kind, origin: "address", host, port, url, stop, [Symbol.asyncDispose]: stop };
}

/** Runs what was found, on a place of its own. */
export async function startProgram<K extends ServerKind>(
  kind: K,
  { origin, value: program }: Found<Program<ServerOptions[K]>>,
  options: ServerOptions[K],
): Promise<OwnServer> {
  for (let attempt = 1; ; attempt++) {
    const place = await claimPlace();
    const guarded = new GuardedProcess(place.dir);
    try {
      const launch = await program.launch(place, options);
      const server = new RunningServer(recipes[kind], origin, program.limits, guarded, launch, place.port);
      await server.start();
      return server;
    } catch (error) {
      await guarded.end();
      if (attempt === ATTEMPTS || !lostItsPort(error)) throw error;
    }
  }
}

/** Someone took the port between our look and the server's. */
function lostItsPort(error: unknown): boolean {
  return error instanceof StartFailedError && /address already in use|port is already allocated/i.test(error.log);
}
