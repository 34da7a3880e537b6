/** What runs in each thread or process of the swarm. It talks to the demo by messages, and ends with it. */
import { parentPort } from "node:worker_threads";
import { type Agent, startAgent } from "./agent/agent.ts";
import type { AgentTask, Order, Word } from "./agent/words.ts";

const agents = new Map<string, Agent>();
const say = (word: Word): void => {
  if (parentPort) parentPort.postMessage(word);
  else if (process.connected) process.send?.(word);
};

async function start(task: AgentTask): Promise<void> {
  try {
    agents.set(task.agentId, await startAgent(task, say));
  } catch (error) {
    say({ type: "failed", agentId: task.agentId, message: (error as Error).message });
  }
}

/** One that cannot say, because it is being stopped, says nothing. */
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
    case "stop":
      await Promise.all([...agents.values()].map((agent) => agent.stop()));
      if (parentPort) parentPort.close();
      else process.disconnect();
  }
}

if (parentPort) parentPort.on("message", (order: Order) => void obey(order));
else {
  process.on("message", (order) => void obey(order as Order));
  // The demo is gone, or has heard all that there is.
  process.on("disconnect", () => process.exit());
  // It is the demo that is interrupted. A terminal tells all processes, and the demo tells us.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
}
