import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { AgentTask, AgentWord, Phase, PhaseResult } from "./plan.ts";

const program = fileURLToPath(new URL("./shared-limit/agent.js", import.meta.url));

/** The agents of one contender, each in its own process. */
export class Crowd {
  readonly #agents: readonly ChildProcess[];

  private constructor(agents: readonly ChildProcess[]) {
    this.#agents = agents;
  }

  /** Resolves when all agents are ready. */
  static async start(tasks: readonly AgentTask[]): Promise<Crowd> {
    const crowd = new Crowd(tasks.map((task) => fork(program, [JSON.stringify(task)])));
    await Promise.all(crowd.#agents.map(heard));
    return crowd;
  }

  /** Runs one phase on each agent, all at the same time. */
  run(phases: readonly Phase[]): Promise<PhaseResult[]> {
    return Promise.all(
      this.#agents.map(async (agent, i) => {
        agent.send(phases[i] as Phase);
        const word = await heard(agent);
        if (word.type !== "done")
          throw new Error(`expected the message "done" of an agent, got ${JSON.stringify(word.type)}`);
        return word;
      }),
    );
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#agents.map(async (agent) => {
        if (agent.exitCode !== null) return;
        const gone = once(agent, "exit");
        agent.send("close");
        const timer = setTimeout(() => agent.kill("SIGKILL"), 5_000);
        await gone;
        clearTimeout(timer);
      }),
    );
  }
}

async function heard(agent: ChildProcess): Promise<AgentWord> {
  const stop = new AbortController();
  const gone = once(agent, "exit", stop).then(([code]) => {
    throw new Error(`an agent ended with ${code}`);
  });
  try {
    const [word] = (await Promise.race([once(agent, "message", stop), gone])) as [AgentWord];
    return word;
  } finally {
    gone.catch(() => {});
    stop.abort();
  }
}
