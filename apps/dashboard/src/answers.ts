import type { ServerResponse } from "node:http";

/** The page may load, run and request only resources of this server, and no other page may frame it. */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const SAFE_HEADERS = {
  "content-security-policy": CSP,
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
} as const;

export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  send(response, status, "application/json; charset=utf-8", JSON.stringify(body), headers);
}

export function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { ...SAFE_HEADERS, "content-type": type, ...headers });
  response.end(body);
}
