/** LangGraph: parallel nodes of a graph, and all processes that run it, share one limit. */

import { startProvider } from "@hivepace/provider";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { createHive, createLimitedFetch } from "hivepace";

const provider = await startProvider({ rpm: 60, outputTokens: 3 });
const baseURL = `${provider.url}/v1`;
const hive = await createHive({ endpoints: [{ id: "local", rpmLimit: 60 }] });
const fetch = createLimitedFetch(hive, { endpoints: [{ id: "local", provider: "openai", baseURL }] });
// The limited fetch owns the retries, so LangChain's are off.
const model = new ChatOpenAI({ apiKey: "sk-test", model: "gpt-x", maxRetries: 0, configuration: { baseURL, fetch } });

const State = Annotation.Root({
  topic: Annotation<string>,
  notes: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});
const agent = (role: string) => async (state: typeof State.State) => {
  const answer = await model.invoke(`You are the ${role}. Topic: ${state.topic}`);
  return { notes: [`${role}: ${String(answer.content).trim()}`] };
};
const graph = new StateGraph(State)
  .addNode("critic", agent("critic"))
  .addNode("writer", agent("writer"))
  .addEdge(START, "critic")
  .addEdge(START, "writer")
  .addEdge("critic", END)
  .addEdge("writer", END)
  .compile();

const { notes } = await graph.invoke({ topic: "bees" });
console.log(notes.sort());
console.log(provider.log.length, "calls");

await hive.close();
await provider.close();

/* Output:
[ 'critic: bee bee bee', 'writer: bee bee bee' ]
2 calls
*/
