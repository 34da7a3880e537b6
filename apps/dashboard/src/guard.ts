import { timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import { hostname } from "node:os";

/** Headers that decide whether a request is let in; names as Node gives them, in lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

const LOOPBACK = ["localhost", "127.0.0.1", "::1"];
const ANY = ["0.0.0.0", "::"];

/**
 * Whether the name by which we were called is one of ours. A page from elsewhere can make its own name lead to this
 * machine (DNS rebinding) and would then read us as its own; it cannot change the name that the browser sends. Ports do
 * not matter: a tunnel has another. Who listens everywhere is called by any address, which no foreign name can be.
 */
export function isOurHost(header: string | undefined, host: string): boolean {
  const name = nameOf(header);
  if (name === undefined) return false;
  if (LOOPBACK.includes(name) || name === host.toLowerCase()) return true;
  return ANY.includes(host) && (isIP(name) !== 0 || name === hostname().toLowerCase());
}

/** `host`, `host:port` or `[address]:port`, without the port and the brackets. */
function nameOf(header: string | undefined): string | undefined {
  const [, bracketed, plain] = header?.match(/^(?:\[([0-9a-f:.]+)\]|([^\s:/@[\]]+))(?::\d{1,5})?$/i) ?? [];
  return (bracketed ?? plain)?.toLowerCase();
}

/** Why a request that changes something is refused; undefined when it is ours. */
export function refusalOf(headers: Headers, token: string): string | undefined {
  const { origin, host } = headers;
  if (typeof origin !== "string" || !/^https?:\/\//.test(origin)) return "it has no Origin";
  if (origin.replace(/^https?:\/\//, "") !== host) return "its Origin is another site";
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") return "it comes from another site";
  const type = String(headers["content-type"]).split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") return "it is not JSON";
  if (!isSame(headers["x-hivepace-token"], token)) return "its token is not of this page";
  return undefined;
}

function isSame(given: string | string[] | undefined, token: string): boolean {
  if (typeof given !== "string") return false;
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}
