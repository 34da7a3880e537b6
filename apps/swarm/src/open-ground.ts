import { parseBusAddress, shownAddress } from "@hivepace/open-bus";
import { OptionError } from "./options.ts";
import { type BusSwitch, brokerSwitch } from "./run/bus-switch.ts";
import type { BrokerKind, DemoWorld } from "./world.ts";

/** The bus on which the agents of a run communicate. */
export interface BusGround {
  /** The address for `openBus`. */
  readonly address: string;
  /** The name for output and figures, without credentials. */
  readonly name: string;
  readonly hosts: "thread" | "process";
  readonly busSwitch: BusSwitch | undefined;
  /** Stops the server that was started for the run, if any. */
  close(): Promise<void>;
}

/** Opens a bus by its kind, starting a server, or by its address. */
export async function openGround(bus: string, world: Pick<DemoWorld, "startServer">): Promise<BusGround> {
  const close = async (): Promise<void> => {};
  if (bus === "memory") {
    const address = `memory:hivepace-demo-${process.pid}-${Math.random().toString(36).slice(2)}`;
    return { address, name: "memory", hosts: "thread", busSwitch: undefined, close };
  }
  if (bus.includes(":")) {
    const name = shownAddress(bus);
    parseBusAddress(bus);
    return { address: bus, name, hosts: "process", busSwitch: undefined, close };
  }
  const kind = bus as BrokerKind;
  if (world.startServer === undefined)
    throw new OptionError(`--bus must be memory or an address such as ${example(kind)}, got ${JSON.stringify(bus)}`);
  const server = await world.startServer(kind);
  const address = kind === "kafka" ? `kafka://${server.url}` : server.url;
  return { address, name: kind, hosts: "process", busSwitch: brokerSwitch(server, kind), close: () => server.stop() };
}

function example(kind: BrokerKind): string {
  return { nats: "nats://localhost:4222", redis: "redis://localhost:6379", kafka: "kafka://localhost:9092" }[kind];
}
