import type { MessageBus } from "@hivepace/bus";
import { observeSwarm, type SwarmObserver } from "@hivepace/distributed";
import { openBus } from "@hivepace/open-bus";
import { abortable } from "../abortable.ts";
import { neededBus, type SwarmSettings } from "../settings.ts";
import type { World } from "../world.ts";

export interface SwarmLink extends AsyncDisposable {
  readonly bus: MessageBus;
  readonly observer: SwarmObserver;
}

/** Rejects as `openBus` and `observeSwarm` do, or with the signal's reason. */
export async function connect(settings: SwarmSettings, { signal }: Pick<World, "signal">): Promise<SwarmLink> {
  const { namespace, secret, timeoutMs } = settings;
  const opening = openBus(neededBus(settings), { connectTimeoutMs: timeoutMs });
  const bus = await abortable(opening, signal, (late) => late.close());
  try {
    const observing = observeSwarm({ bus, namespace: namespace.namespace, secret });
    const observer = await abortable(observing, signal, (late) => late.close());
    const close = async (): Promise<void> => {
      await observer.close();
      await bus.close();
    };
    return { bus, observer, [Symbol.asyncDispose]: close };
  } catch (error) {
    await bus.close();
    throw error;
  }
}
