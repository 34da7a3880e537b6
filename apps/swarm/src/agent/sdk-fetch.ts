import { setTimeout as pause } from "node:timers/promises";

/** As the SDKs of OpenAI and Anthropic do by default: two retries, 0.5 to 8 seconds, or as long as the provider asks for. */
const RETRIES = 2;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
const LONGEST_HEEDED_MS = 60_000;

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Sends at once, and again when it is refused. */
export function sdkFetch(random: () => number, send: Fetch = fetch): Fetch {
  return async (url, init) => {
    for (let tried = 0; ; tried++) {
      const response = await send(url, init);
      if (response.status !== 429 || tried === RETRIES) return response;
      await response.arrayBuffer();
      await pause(waitMs(response.headers, tried, random()), undefined, init.signal ? { signal: init.signal } : {});
    }
  };
}

function waitMs(headers: Headers, tried: number, random: number): number {
  const precise = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  const asked = Number.isNaN(precise) ? 1_000 * Number.parseFloat(headers.get("retry-after") ?? "") : precise;
  if (asked >= 0 && asked < LONGEST_HEEDED_MS) return asked;
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tried) * (1 - 0.25 * random);
}
