/** A roll-out without risk: a hive in observe mode decides and reports, and never delays a call. */
import { createHive } from "@hivepace/distributed";
import { startProvider } from "@hivepace/provider";

// The situation today: calls without a limiter, and a provider that refuses the excess.
const provider = await startProvider({ rpm: 5 });
const call = () => fetch(`${provider.url}/v1/chat/completions`, { method: "POST", body: '{"model":"gpt-x"}' });

const hive = await createHive({ endpoints: [{ id: "openai", rpmLimit: 5 }], mode: "observe" });
for (let i = 0; i < 8; i++) {
  const lease = await hive.acquire({ endpoint: "openai", tokens: 100 });
  const response = await call();
  if (response.status === 429) lease.refused({ reason: "429" });
  else lease.done();
}

// The hive would have delayed three calls, and avoided all three refusals.
console.log(hive.status().observed);

await hive.close();
await provider.close();

/* Output:
{
  decisions: 8,
  wouldHaveWaited: 3,
  wouldHaveBeenDenied: 0,
  refused: 3,
  wouldHaveBeenAvoided: 3
}
*/
