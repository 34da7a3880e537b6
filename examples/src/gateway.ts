/** A gateway decides for each request: may this key send these tokens to this endpoint now? */
import { RateManager } from "@hivepace/core";

// Limits are a minute's by default; a day's here, so that no window ends in the middle of the example.
const manager = new RateManager({ windowMs: 86_400_000 });
manager.loadConfig({
  endpoints: [{ id: "anthropic-primary", rpm_limit: 1000, tpm_limit: 100000 }],
  keys: { acme: { rate_limit_rpm: 100, rate_limit_tpm: 50000 } },
});

// An estimate is counted at once; when the answer is there, it is corrected to what was really used.
const decision = manager.check({ endpoint: "anthropic-primary", key: "acme", tokens: 30_000 });
console.log(decision.allowed, decision.currentTpm, "of", decision.limitTpm);
manager.settle(decision, 12_000);

// The key is asked first, and says so.
const denied = manager.check({ endpoint: "anthropic-primary", key: "acme", tokens: 45_000 });
console.log(denied.allowed, denied.limitedBy, denied.currentTpm, "of", denied.limitTpm);
console.log(denied.retryAfterMs !== undefined && denied.retryAfterMs <= 86_400_000);

// A request that is larger than the limit is no retry loop for ever.
console.log(manager.check({ endpoint: "anthropic-primary", tokens: 200_000 }).reason);

/* Output:
true 30000 of 100000
false key-tpm 12000 of 50000
true
too-large
*/
