import { seededRandom } from "@hivepace/core/testing";
import { brokers, type Link } from "../bus-links.ts";
import { shuffled } from "../random.ts";
import type { Row } from "../row.ts";
import { startServer } from "../servers.ts";
import { median, ratiosOf } from "../statistics.ts";
import type { FreeSuite, RunParameters } from "../suite.ts";

const PAYLOAD_BYTES = 200;
/** The maximum number of messages in flight in the throughput measurement, like that of a busy agent. */
const WINDOW = 100;

/** The time from publish to the handler, one message after the other; microseconds, the median. */
async function latency(link: Link, messages: number): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < messages; i++) {
    const start = performance.now();
    const arrived = new Promise<void>((resolve) => {
      link.onMessage = () => resolve();
    });
    const sent = link.send(new Uint8Array(PAYLOAD_BYTES));
    await arrived;
    times.push((performance.now() - start) * 1_000);
    await sent;
  }
  return median(times);
}

/** Microseconds per message, with many in flight. */
async function spacing(link: Link, messages: number): Promise<number> {
  const start = performance.now();
  let arrived = 0;
  const all = new Promise<void>((resolve) => {
    link.onMessage = () => ++arrived === messages && resolve();
  });
  for (let i = 0; i < messages; i += WINDOW) {
    const batch = Array.from({ length: Math.min(WINDOW, messages - i) }, () =>
      link.send(new Uint8Array(PAYLOAD_BYTES)),
    );
    await Promise.all(batch);
  }
  await all;
  return ((performance.now() - start) * 1_000) / messages;
}

async function measureBroker(
  { kind, raw, ours }: (typeof brokers)[number],
  { rounds, quick, seed }: RunParameters,
): Promise<Row[]> {
  await using server = await startServer(kind);
  const links = { raw: await raw(server.url), ours: await ours(server.url) };
  const random = seededRandom(seed);
  const times = {
    latency: { raw: [] as number[], ours: [] as number[] },
    spacing: { raw: [] as number[], ours: [] as number[] },
  };
  const scale = (kind === "kafka" ? 0.2 : 1) * (quick ? 0.2 : 1);
  try {
    for (let round = -1; round < rounds; round++) {
      for (const who of shuffled(["raw", "ours"] as const, random)) {
        const [one, many] = [await latency(links[who], 200 * scale), await spacing(links[who], 2_000 * scale)];
        if (round < 0) continue;
        times.latency[who].push(one);
        times.spacing[who].push(many);
      }
    }
  } finally {
    await Promise.all([links.raw.close(), links.ours.close()]);
  }
  return (["latency", "spacing"] as const).flatMap((what): Row[] => {
    const name = what === "latency" ? "publish to receive" : `a message, ${WINDOW} under way`;
    const [bare, bus] = [`${kind} client, ${name}`, `${kind} bus, ${name}`];
    const row = {
      what: bus,
      value: median(times[what].ours),
      unit: "µs",
      against: bare,
      ratio: ratiosOf(times[what].ours, times[what].raw),
    };
    const measured: Row[] = [{ what: bare, value: median(times[what].raw), unit: "µs" }, row];
    if (what === "latency") measured.push({ ...row, wanted: { of: "ratio", direction: "at most", limit: 1.5 } });
    return measured;
  });
}

export const bus: FreeSuite = {
  kind: "free",
  name: "bus",
  title: `Messages of ${PAYLOAD_BYTES} bytes from one connection to another, each broker's bus beside its bare client.`,
  async measure(parameters) {
    const rows: Row[] = [];
    for (const broker of brokers) rows.push(...(await measureBroker(broker, parameters)));
    return rows;
  },
};
