import { channel } from "node:diagnostics_channel";
import { memoryBroker, memoryBus } from "@hivepace/bus";
import { channelNames } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { createHive, type Hive, type HiveOptions } from "@hivepace/distributed";
import { type FakeProvider, type ProviderOptions, startProvider } from "@hivepace/provider";
import { until } from "@hivepace/test-kit";

/**
 * Hives on one bus and a strict provider, on one clock. It moves on only when all that the hives let through has arrived
 * and was answered: what lies between them takes no time, however busy the machine is.
 */
export interface HivesInOneTime extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly provider: FakeProvider;
  /** Number of hives on one bus, all joined; a single hive has no bus. */
  start(count: number, options: HiveOptions): Promise<Hive[]>;
  /** Advances time until the work is over, beginning when this number of calls has reached the hives. */
  whilePassing<T>(calls: number, work: Promise<T>): Promise<T>;
  /** Number of requests that reached the provider without passing the hives. */
  foreign(calls: number): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function hivesInOneTime(options: ProviderOptions): Promise<HivesInOneTime> {
  const clock = new ManualClock({ now: 5_000 });
  const provider = await startProvider({ clock, ...options });
  const broker = memoryBroker();
  const hives: Hive[] = [];
  const granted = channel(channelNames.granted);
  let grants = 0;
  const count = (): void => void grants++;
  granted.subscribe(count);

  const hasSettled = (): boolean =>
    provider.log.length === grants && hives.every((hive) => hive.status().leases === 0) && clock.pending > 0;

  return {
    clock,
    provider,
    async start(number, hiveOptions) {
      for (let i = 0; i < number; i++) {
        const bus = number === 1 ? undefined : memoryBus(broker, { clock });
        const shared = { clock, bus, agentId: `hive-${i}`, namespace: "test", expectedAgents: number };
        hives.push(await createHive({ ...shared, ...hiveOptions }));
      }
      await clock.run(3_000);
      return hives;
    },
    async whilePassing(calls, work) {
      let isOver = false;
      const before = grants;
      const result = work.finally(() => {
        isOver = true;
      });
      result.catch(() => undefined);
      const waiting = (): number => hives.reduce((sum, hive) => sum + hive.status().waiting, 0);
      await until(() => isOver || grants - before + waiting() >= calls, "all calls have reached the hives");
      while (!isOver) {
        await until(() => isOver || hasSettled(), "all calls were answered");
        if (!isOver) await clock.run((clock.nextDueAt ?? clock.now()) - clock.now());
      }
      return result;
    },
    foreign(calls) {
      grants += calls;
    },
    async [Symbol.asyncDispose]() {
      granted.unsubscribe(count);
      const closed = Promise.all(hives.map((hive) => hive.close()));
      await clock.run(10_000);
      await closed;
      await provider.close();
    },
  };
}
