import type { Sleep } from "../lapse-clock.ts";

/**
 * The defaults of the OpenAI and Anthropic SDKs: two retries, after 0.5 to 8 seconds or the time that the provider asks
 * for.
 */
const RETRIES = 2;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
const LONGEST_HEEDED_MS = 60_000;

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Sends without waiting, and retries a refused call. */
export function sdkFetch(random: () => number, sleep: Sleep, send: Fetch = fetch): Fetch {
  return async (url, init) => {
    for (let tried = 0; ; tried++) {
      const response = await send(url, init);
      if (response.status !== 429 || tried === RETRIES) return response;
      await response.arrayBuffer();
      await sleep(waitMs(response.headers, tried, random()), init.signal ?? undefined);
    }
  };
}

function waitMs(headers: Headers, tried: number, random: number): number {
  const precise = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  const asked = Number.isNaN(precise) ? 1_000 * Number.parseFloat(headers.get("retry-after") ?? "") : precise;
  if (asked >= 0 && asked < LONGEST_HEEDED_MS) return asked;
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tried) * (1 - 0.25 * random);
}
