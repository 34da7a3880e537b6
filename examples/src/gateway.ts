/** A gateway decides for each request whether this key may send these tokens to this endpoint now. */
import { RateManager } from "@hivepace/core";

// Limits are per minute by default; a day here, so that no window ends in the middle of the example.
const manager = new RateManager({ windowMs: 86_400_000 });
manager.loadConfig({
  endpoints: [{ id: "anthropic-primary", rpm_limit: 1000, tpm_limit: 100000 }],
  keys: { acme: { rate_limit_rpm: 100, rate_limit_tpm: 50000 } },
});

// The estimate is counted at once, and corrected to the actual usage after the response.
const decision = manager.check({ endpoint: "anthropic-primary", key: "acme", tokens: 30_000 });
console.log(decision.allowed, decision.currentTpm, "of", decision.limitTpm);
manager.settle(decision, 12_000);

// The key's limit is checked first, and named in the denial.
const denied = manager.check({ endpoint: "anthropic-primary", key: "acme", tokens: 45_000 });
console.log(denied.allowed, denied.limitedBy, denied.currentTpm, "of", denied.limitTpm);
console.log(denied.retryAfterMs !== undefined && denied.retryAfterMs <= 86_400_000);

// A request larger than the limit is denied with a reason of its own, so that callers do not retry forever.
console.log(manager.check({ endpoint: "anthropic-primary", tokens: 200_000 }).reason);

/* Output:
true 30000 of 100000
false key-tpm 12000 of 50000
true
too-large
*/
