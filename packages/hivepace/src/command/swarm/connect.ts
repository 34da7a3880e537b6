import type { MessageBus } from "@hivepace/bus";
import { observeSwarm, type SwarmObserver } from "@hivepace/distributed";
import { openBus } from "@hivepace/open-bus";
import { abortable } from "../abortable.ts";
import { neededBus, type SwarmSettings } from "../settings.ts";
import { EXIT, type World } from "../world.ts";

export interface SwarmLink extends AsyncDisposable {
  readonly bus: MessageBus;
  readonly observer: SwarmObserver;
  /** Aborted when the broker has closed the connection for good. */
  readonly lost: AbortSignal;
}

/** Opens the bus and an observer. Rejects like `openBus` and `observeSwarm`, or with the signal's reason. */
export async function connect(settings: SwarmSettings, { signal }: Pick<World, "signal">): Promise<SwarmLink> {
  const { namespace, secret, swarmId, timeoutMs } = settings;
  const opening = openBus(neededBus(settings), { connectTimeoutMs: timeoutMs });
  const bus = await abortable(opening, signal, (late) => late.close());
  try {
    const observing = observeSwarm({ bus, namespace: namespace.namespace, secret, swarmId });
    const observer = await abortable(observing, signal, (late) => late.close());
    const lost = new AbortController();
    observer.onEvent((event) => event.type === "bus" && event.state === "closed" && lost.abort());
    const close = async (): Promise<void> => {
      await observer.close();
      await bus.close();
    };
    return { bus, observer, lost: lost.signal, [Symbol.asyncDispose]: close };
  } catch (error) {
    await bus.close();
    throw error;
  }
}

/** Returns the exit code of a command that observes a swarm until it is interrupted. */
export function endOfWatching({ lost }: SwarmLink, { stderr }: Pick<World, "stderr">): number {
  if (!lost.aborted) return EXIT.fine;
  stderr.write("hivepace: the broker has closed the connection for good\n");
  return EXIT.trouble;
}
