import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "@hivepace/core/testing";
import { startProvider } from "@hivepace/provider";
import { type OwnServer, startOwnServer, until } from "@hivepace/servers";
import { HAPPENINGS, shuffled } from "./faults.ts";
import { Seen, type SoakFigures } from "./figures.ts";
import { type Inspection, inspectBroker } from "./inspect/inspect.ts";
import { NATS_CONFIG } from "./inspect/nats.ts";
import { type Allowance, FEWEST_ROUNDS, judge, NOTHING, type Remains, type Series, type Verdict } from "./judge.ts";
import type { Options } from "./options.ts";
import { limitFor, Swarm, WINDOW_MS } from "./swarm.ts";
import type { BrokerKind, Holdings } from "./words.ts";

const ALLOWED: readonly (readonly [RegExp, Allowance])[] = [
  [/ memory /, { part: 0.1, amount: 1_000_000 }],
  // Timers of Node's own fetch and of the clients are transient.
  [/ handles Timeout$/, { part: 0, amount: 5 }],
  [/ objects emitters$/, { part: 0, amount: 10 }],
];

export interface Outcome extends Verdict {
  readonly figures: SoakFigures;
  readonly rounds: number;
}

export interface SoakPlan {
  readonly broker: BrokerKind;
  readonly options: Options;
  /** The agents' program. */
  readonly file: string;
  /** No round starts after this time of `performance.now()`, except for the minimum number of rounds. */
  readonly until: number;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/**
 * Runs rounds on one broker and returns the verdict. Rejects when the swarm does not recover, or an agent fails to
 * carry out an order.
 */
export async function soakBroker(plan: SoakPlan): Promise<Outcome> {
  const { broker, options, signal } = plan;
  const { leaks, patienceMs } = options;
  const limit = limitFor(options.agents);
  const folder = await mkdtemp(join(tmpdir(), "hivepace-soak-"));
  const server = await startBroker(broker);
  const provider = await startProvider({ rpm: limit, windowMs: WINDOW_MS, limitHeaders: false, logSize: 1_000 });
  const parts = { broker, server, provider, folder, limit, signal, file: plan.file, leaks, patienceMs };
  const swarm = new Swarm(parts, options.agents);
  const soak = new Soak(plan, swarm);
  try {
    await soak.run();
    const left = await soak.leave();
    await server.stop();
    const { peak: max, tally } = provider;
    const series = soak.series();
    const verdict = judge(series, [...left, ...(await filesLeft(folder, server))]);
    const figures = soak.seen.figures({ max, sent: tally.sent, rejected: tally.rejected429 });
    return { ...verdict, figures, rounds: soak.rounds };
  } finally {
    await swarm.end();
    await provider.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function startBroker(broker: BrokerKind): Promise<OwnServer> {
  switch (broker) {
    case "nats":
      return startOwnServer("nats", { config: NATS_CONFIG });
    case "redis":
      return startOwnServer("redis");
    case "kafka":
      // By default, Kafka removes groups without members only every ten minutes.
      return startOwnServer("kafka", { properties: { "offsets.retention.check.interval.ms": "1000" } });
  }
}

async function filesLeft(folder: string, { port }: OwnServer): Promise<Remains[]> {
  const files = await readdir(folder);
  const ofServer = join(tmpdir(), `hivepace-server-${port}`);
  return [
    { name: "temporary files of agents", count: files.length, which: files },
    { name: "folder of the broker", count: existsSync(ofServer) ? 1 : 0, which: [ofServer] },
  ];
}

class Soak {
  readonly seen = new Seen();
  readonly #plan: SoakPlan;
  readonly #swarm: Swarm;
  readonly #random: () => number;
  /** A value for each round, by name. */
  readonly #values = new Map<string, number[]>();
  /** The broker's resources before the first fault. */
  #calm: Holdings = {};
  #wrong = new Map<string, Remains>();
  rounds = 0;

  constructor(plan: SoakPlan, swarm: Swarm) {
    this.#plan = plan;
    this.#swarm = swarm;
    this.#random = seededRandom(plan.options.seed);
  }

  async run(): Promise<void> {
    const { options, log, until: end } = this.#plan;
    await this.#swarm.healed();
    log(`${options.agents} agents know each other`);
    this.#calm = (await this.#inspect()).holdings;
    const { rounds } = options;
    const isOver = () => (rounds === undefined ? performance.now() >= end : this.rounds >= rounds);
    while (this.rounds < FEWEST_ROUNDS || !isOver()) await this.#round();
  }

  /** All agents leave. Resolves with the resources that remain after `patienceMs`. */
  async leave(): Promise<Remains[]> {
    const swarm = this.#swarm;
    await Promise.all(swarm.all.map((child) => swarm.leave(child)));
    const { holdings, wrong } = await this.#inspectUntil((inspection) =>
      Object.values(inspection.holdings).every((n) => n === 0),
    );
    for (const one of wrong) this.#note(one);
    const held = Object.entries(holdings).map(([name, count]) => ({ name: `${name} after all have left`, count }));
    const stuck = { name: "processes that did not exit by themselves", count: swarm.stuck.length, which: swarm.stuck };
    return [...held, stuck, ...this.#wrong.values()];
  }

  series(): Series[] {
    return [...this.#values].map(([name, values]) => ({
      name,
      values: Array.from({ length: this.rounds }, (_, i) => values[i] ?? 0),
      allowance: ALLOWED.find(([pattern]) => pattern.test(name))?.[1] ?? NOTHING,
    }));
  }

  async #round(): Promise<void> {
    const { options, log } = this.#plan;
    const startedAt = performance.now();
    const round = this.rounds;
    const faults = shuffled(options.faults, this.#random);
    for (const fault of faults) {
      const from = performance.now();
      await HAPPENINGS[fault]({ swarm: this.#swarm, seen: this.seen, random: this.#random, round });
      log(`round ${round + 1}: ${fault}, ${seconds(from)}`);
    }
    // Waits until reservations for departed agents have expired.
    await this.#swarm.use(WINDOW_MS);
    this.seen.use.push(await this.#swarm.use(WINDOW_MS));
    const measuredAt = performance.now();
    await this.#measure(round);
    this.rounds++;
    log(`round ${round + 1}: all agents paused and measured, ${seconds(measuredAt)}`);
    log(`round ${round + 1} took ${seconds(startedAt)}`);
  }

  async #measure(round: number): Promise<void> {
    const { staying, replaceable } = this.#swarm;
    const [own] = await Promise.all([
      Promise.all(staying.map((child) => child.ask("measure", round))),
      replaceable.ask("measure", round),
    ]);
    for (const [i, holdings] of own.entries()) this.#add(holdings, round, `${staying[i]?.id} `);
    const isCalm = ({ holdings }: Inspection) =>
      Object.entries(holdings).every(([name, n]) => n <= (this.#calm[name] ?? 0));
    const { holdings, wrong } = await this.#inspectUntil(isCalm);
    this.#add(holdings, round, "");
    for (const one of wrong) this.#note(one);
  }

  #add(holdings: Holdings, round: number, prefix: string): void {
    for (const [name, value] of Object.entries(holdings)) {
      const values = this.#values.get(prefix + name) ?? [];
      values[round] = value;
      this.#values.set(prefix + name, values);
    }
  }

  #note(remains: Remains): void {
    if (remains.count >= (this.#wrong.get(remains.name)?.count ?? 0)) this.#wrong.set(remains.name, remains);
  }

  #inspect(): Promise<Inspection> {
    const { broker, server } = this.#swarm.parts;
    return inspectBroker(broker, server);
  }

  /** Returns the first observation that meets the condition, or the last one after `patienceMs`. */
  async #inspectUntil(holds: (inspection: Inspection) => boolean): Promise<Inspection> {
    let inspection = await this.#inspect();
    const isSo = async () => {
      if (!holds(inspection)) inspection = await this.#inspect();
      return holds(inspection);
    };
    await until(isSo, { deadlineMs: this.#plan.options.patienceMs, everyMs: 500 });
    return inspection;
  }
}

function seconds(from: number): string {
  return `${((performance.now() - from) / 1_000).toFixed(1)} s`;
}
