import { timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import { hostname } from "node:os";

/** The headers that decide whether a request is accepted; names in lower case, as Node gives them. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

const LOOPBACK = ["localhost", "127.0.0.1", "::1"];
const ANY = ["0.0.0.0", "::"];

/**
 * Whether the Host header names this server. A foreign page can resolve its own name to this machine (DNS rebinding)
 * and would then read the responses as same-origin, but it cannot change the Host header. Ports are ignored, because a
 * tunnel has another one. A server on all interfaces accepts any IP address, which no foreign name can be.
 */
export function isOurHost(header: string | undefined, host: string): boolean {
  const name = nameOf(header);
  if (name === undefined) return false;
  if (LOOPBACK.includes(name) || name === host.toLowerCase()) return true;
  return ANY.includes(host) && (isIP(name) !== 0 || name === hostname().toLowerCase());
}

/** Returns the host of `host`, `host:port` or `[address]:port`, without port and brackets. */
function nameOf(header: string | undefined): string | undefined {
  const [, bracketed, plain] = header?.match(/^(?:\[([0-9a-f:.]+)\]|([^\s:/@[\]]+))(?::\d{1,5})?$/i) ?? [];
  return (bracketed ?? plain)?.toLowerCase();
}

/** Returns the reason why a state-changing request is refused; undefined when it comes from this dashboard's page. */
export function refusalOf(headers: Headers, token: string): string | undefined {
  const { origin, host } = headers;
  if (typeof origin !== "string" || !/^https?:\/\//.test(origin))
    return "the Origin header is missing or not an HTTP origin";
  if (origin.replace(/^https?:\/\//, "") !== host) return "the Origin header names another site";
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") return "Sec-Fetch-Site names another site";
  const type = String(headers["content-type"]).split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") return "the content type is not application/json";
  if (!isSame(headers["x-hivepace-token"], token)) return "the token does not match this page";
  return undefined;
}

function isSame(given: string | string[] | undefined, token: string): boolean {
  if (typeof given !== "string") return false;
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}
