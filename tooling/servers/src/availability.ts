import { ensure, type Provision } from "./ensure.ts";
import { UnavailableError } from "./errors.ts";
import { howToGet, type Kind } from "./kinds.ts";

/** The servers of one kind that are available to tests. */
export interface Availability {
  readonly kind: Kind;
  /** Any server, including one that this process does not own, and a mock. */
  readonly any?: Provision;
  /** A server that tests may kill, restart and configure. */
  readonly own?: Provision;
  /** The reason why one of the above is missing, in one line that explains how to install it. */
  readonly missing?: string;
}

/**
 * Locates or fetches the servers of one kind. Rejects only for a wrong configuration, never for an unavailable server.
 */
export async function survey(kind: Kind): Promise<Availability> {
  const any = await orUnavailable(ensure(kind));
  if (any instanceof UnavailableError) return { kind, missing: any.message };
  if (any.origin === "mock") {
    return {
      kind,
      any,
      missing: `a real ${kind} is not available, only ${any.limits}. To get it: ${howToGet[kind]}.`,
    };
  }
  if (any.origin !== "address" || kind === "chromium") return { kind, any, own: any };
  const own = await orUnavailable(ensure(kind, { own: true }));
  if (!(own instanceof UnavailableError)) return { kind, any, own };
  return {
    kind,
    any,
    missing: `${any.detail} is used, but no server that tests may stop is available: ${own.message}`,
  };
}

/** Returns the required kinds that are not available: a mock does not count, a server named by the environment does. */
export function unmet(required: ReadonlySet<Kind>, all: readonly Availability[]): Availability[] {
  return all.filter(({ kind, any }) => required.has(kind) && (any === undefined || any.origin === "mock"));
}

function orUnavailable(provision: Promise<Provision>): Promise<Provision | UnavailableError> {
  return provision.catch((error: unknown) => {
    if (error instanceof UnavailableError) return error;
    throw error;
  });
}
