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

/** A ready server. The caller that started it must stop it. */
export interface Server extends AsyncDisposable {
  readonly kind: ServerKind;
  readonly origin: Origin;
  readonly host: string;
  readonly port: number;
  /** `redis://host:port`, `nats://host:port`, or Kafka's `host:port`; verbatim if the environment names it. */
  readonly url: string;
  /** Limitations of a mock. */
  readonly limits?: string;
  /** Ends the server and removes its folder; a server named by the environment is left alone. May be called twice. */
  stop(): Promise<void>;
}

/** A server that tests may kill, pause and restart. It keeps its port and its folder until `stop`. */
export interface OwnServer extends Server {
  /** The process id of the current run; undefined while the server is down. */
  readonly pid: number | undefined;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves when the process is gone. */
  shutDown(): Promise<void>;
  /** Starts the server after `kill` or `shutDown`; resolves when it answers again. */
  start(): Promise<void>;
  /** `shutDown` and `start`. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay open without answers, as in a network that drops packets. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

/** Starts any available server of this kind: one named by the environment, an own one, or a mock (see `limits`). */
export async function startServer(kind: ServerKind): Promise<Server> {
  const given = await findAddress(kind);
  if (given !== undefined) return lentServer(kind, given);
  return startProgram(kind, await findProgram(kind, { own: false }), {});
}

/** Starts an own server with these options; never one named by the environment, never a mock. */
export async function startOwnServer<K extends ServerKind>(kind: K, options?: ServerOptions[K]): Promise<OwnServer> {
  return startProgram(kind, await findProgram(kind, { own: true }), options ?? {});
}

function lentServer(kind: ServerKind, { url, host, port }: GivenAddress): Server {
  const stop = async (): Promise<void> => {};
  return { kind, origin: "address", host, port, url, stop, [Symbol.asyncDispose]: stop };
}

/** Runs the program in a new place. */
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

/** Another program took the port between the check and the server's start. */
function lostItsPort(error: unknown): boolean {
  return error instanceof StartFailedError && /address already in use|port is already allocated/i.test(error.log);
}
