/** The AWS SDK with a limit: a throttled attempt of Bedrock makes all agents wait, and the SDK tries again. */
import { BedrockRuntimeClient, ConverseCommand } from "@aws-sdk/client-bedrock-runtime";
import { limitAwsClient } from "@hivepace/fetch/aws";
import { startBedrock } from "../support/fake-bedrock.ts";
import { LocalGate } from "../support/local-gate.ts";

const content = [{ text: "bee bee bee" }];
const usage = { inputTokens: 5, outputTokens: 3, totalTokens: 8 };
const server = await startBedrock(
  { error: "ThrottlingException", status: 429 },
  { json: { output: { message: { role: "assistant", content } }, stopReason: "end_turn", usage } },
);

const gate = new LocalGate({ rpm: 60 });
const credentials = { accessKeyId: "test", secretAccessKey: "test" };
const bedrock = limitAwsClient(
  new BedrockRuntimeClient({ region: "eu-central-1", endpoint: server.url, credentials }),
  gate,
);

const { output } = await bedrock.send(
  new ConverseCommand({ modelId: "amazon.nova-pro-v1:0", messages: [{ role: "user", content: [{ text: "Hello" }] }] }),
);
console.log(output?.message?.content?.[0]?.text);
console.log(gate.endings.map((ending) => ending?.how).join(" "));
bedrock.destroy();
await gate.close();
await server[Symbol.asyncDispose]();

/* Output:
bee bee bee
refused done
*/
