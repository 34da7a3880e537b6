/** Any HTTP API with a limit: a wait that takes too long is an ordinary 429, and the answer's headers are learned from. */
import { createLimitedFetch, parseProviderSignal } from "@hivepace/fetch";
import { startProvider } from "@hivepace/provider";
import { LocalGate } from "../support/local-gate.ts";

const provider = await startProvider({ rpm: 60, outputTokens: 3 });

// Two a minute, one of them at once.
const gate = new LocalGate({ rpm: 2 });
const limited = createLimitedFetch(gate, { endpoint: "provider", timeoutMs: 50 });
const ask = () => limited(`${provider.url}/v1/chat/completions`, { method: "POST", body: '{"model":"gpt-x"}' });

const response = await ask();
await response.text();
console.log(response.status, parseProviderSignal(response).dims["requests"]?.limit);

const late = await ask();
console.log(late.status, late.headers.get("x-hivepace"), Number(late.headers.get("retry-after")) > 0);
console.log(`${provider.log.length} request was sent`);
await gate.close();
await provider.close();

/* Output:
200 60
429 timeout true
1 request was sent
*/
