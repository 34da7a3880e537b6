import type { MessageBus } from "@hivepace/bus";
import { type ConnectOptions, connectBus } from "./connect-bus.ts";
import type { LoadAdapter } from "./import-adapter.ts";
import { loadAdapter } from "./load-adapter.ts";

export interface OpenBusOptions extends ConnectOptions {
  /**
   * Loads an adapter by name.
   *
   * @defaultValue loads from beside this module, or from the working directory
   */
  readonly load?: LoadAdapter | undefined;
}

/** Opens a bus like `connectBus`, with adapters from everywhere a command may find them. */
export function openBus(address: string, { load = loadAdapter, ...options }: OpenBusOptions = {}): Promise<MessageBus> {
  return connectBus(address, load, options);
}
