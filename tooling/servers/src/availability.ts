import { ensure, type Provision } from "./ensure.ts";
import { UnavailableError } from "./errors.ts";
import { howToGet, type Kind } from "./kinds.ts";

/** What tests of one kind can count on. */
export interface Availability {
  readonly kind: Kind;
  /** Any server at all: also one that is not ours, also a stand-in. */
  readonly any?: Provision;
  /** One that may be killed, restarted and configured. */
  readonly own?: Provision;
  /** Why something above is missing, in one line that says how to get it. */
  readonly missing?: string;
}

/** Locates or fetches what one kind needs. Rejects only for what is set up wrongly, never for what is not there. */
export async function survey(kind: Kind): Promise<Availability> {
  const any = await orUnavailable(ensure(kind));
  if (any instanceof UnavailableError) return { kind, missing: any.message };
  if (any.origin === "mock") {
    return {
      kind,
      any,
      missing: `a real ${kind} cannot be had here, only ${any.limits}. To get it: ${howToGet[kind]}.`,
    };
  }
  if (any.origin !== "address" || kind === "chromium") return { kind, any, own: any };
  const own = await orUnavailable(ensure(kind, { own: true }));
  if (!(own instanceof UnavailableError)) return { kind, any, own };
  return { kind, any, missing: `${any.detail} is used, but one that tests may stop is not there: ${own.message}` };
}

/** Required and not met: a stand-in does not count, a server that the environment names does. */
export function unmet(required: ReadonlySet<Kind>, all: readonly Availability[]): Availability[] {
  return all.filter(({ kind, any }) => required.has(kind) && (any === undefined || any.origin === "mock"));
}

function orUnavailable(provision: Promise<Provision>): Promise<Provision | UnavailableError> {
  return provision.catch((error: unknown) => {
    if (error instanceof UnavailableError) return error;
    throw error;
  });
}
