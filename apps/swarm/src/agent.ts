/** The program of each thread or process of the swarm. The demo controls it by messages, and it exits with the demo. */
import { parentPort } from "node:worker_threads";
import { type Agent, startAgent } from "./agent/agent.ts";
import { CentralBuckets } from "./agent/gatekeeper.ts";
import type { AgentTask, Order, Word } from "./agent/words.ts";

const agents = new Map<string, Agent>();
const centrals = new CentralBuckets();
const say = (word: Word): void => {
  if (parentPort) parentPort.postMessage(word);
  else if (process.connected) process.send?.(word);
};

async function start(task: AgentTask): Promise<void> {
  try {
    agents.set(task.agentId, await startAgent(task, say, centrals));
  } catch (error) {
    say({ type: "failed", agentId: task.agentId, message: (error as Error).message });
  }
}

/** An agent that fails to answer because it is being stopped is left out. */
async function measure(question: number): Promise<void> {
  for (const [agentId, agent] of agents) {
    const families = await agent.measure().catch(() => undefined);
    if (families) say({ type: "measured", agentId, question, families });
  }
}

async function obey(order: Order): Promise<void> {
  switch (order.type) {
    case "start":
      await Promise.all(order.tasks.map(start));
      return;
    case "demand":
      agents.get(order.agentId)?.setDemand(order.callsPerSecond);
      return;
    case "reach":
      for (const agent of agents.values()) agent.setCutOff(order.isCutOff);
      return;
    case "measure":
      await measure(order.question);
      return;
    case "crash":
      await agents.get(order.agentId)?.crash();
      agents.delete(order.agentId);
      return;
    case "stop":
      await Promise.all([...agents.values()].map((agent) => agent.stop()));
      if (parentPort) parentPort.close();
      else process.disconnect();
  }
}

if (parentPort) parentPort.on("message", (order: Order) => void obey(order));
else {
  process.on("message", (order) => void obey(order as Order));
  // The demo has exited, or has received every message.
  process.on("disconnect", () => process.exit());
  // A terminal signals all processes of its group; only the demo reacts, and then stops the agents.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
}
