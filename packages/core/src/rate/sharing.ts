import { need } from "../need.ts";
import { allocate, compareAndSwapOn, type Memory } from "./cas64.ts";
import { HEADER_SIZE, NOWHERE, RECORD_SIZE, SHARED_RECORD_SIZE, VERSION } from "./layout.ts";
import type { LocalDirectory } from "./local-directory.ts";
import { PackedCounters } from "./packed-counters.ts";
import { SharingUnavailableError } from "./rate-errors.ts";
import type { SharedHandle } from "./rate-types.ts";
import { isLive, KINDS } from "./record.ts";
import { SharedDirectory } from "./shared-directory.ts";
import type { Windows } from "./window-clock.ts";

/**
 * The actual content of a `SharedHandle`. A shared `WebAssembly.Memory` can be cloned into a worker, where it is the
 * same memory.
 */
interface Handle extends SharedHandle, Windows {
  readonly memory: Memory;
}

export interface SharedStore {
  readonly handle: SharedHandle;
  readonly windows: Windows;
  readonly counters: PackedCounters;
  readonly directory: SharedDirectory;
}

export function joinStore(shared: SharedHandle): SharedStore {
  const handle = shared as Handle;
  need(handle?.hivepace === "rate-manager", "shared", "a handle returned by share() of a RateManager", shared);
  const counters = orUnavailable(
    () =>
      new PackedCounters(new Int32Array(handle.memory.buffer), {
        cas: compareAndSwapOn(handle.memory),
        sliding: handle.isSliding,
      }),
  );
  return { handle, windows: handle, counters, directory: new SharedDirectory(counters) };
}

/** Moves all records into new shared memory. References to the old places are changed to the new ones. */
export function shareStore(from: Int32Array, local: LocalDirectory, windows: Windows, maxIds: number): SharedStore {
  const size = KINDS.reduce<number>((sum, kind) => sum + local.refs(kind).size, 0);
  // A table that is half empty finds almost every name at its first place or the one after it.
  const records = 2 ** Math.ceil(Math.log2(2 * Math.max(size, maxIds)));
  const memory = orUnavailable(() => allocate((HEADER_SIZE + records * SHARED_RECORD_SIZE) * 4));
  const handle: Handle = { ...windows, hivepace: "rate-manager", memory };
  const store = joinStore(handle);
  const to = store.counters.memory;
  to.set(from.subarray(0, HEADER_SIZE));
  for (const kind of KINDS)
    for (const [name, ref] of local.refs(kind)) {
      let slot = NOWHERE;
      if (isLive(from, ref)) {
        ({ slot } = store.directory.set(kind, name, [0, 0, 0, 0], 0));
        // Copies the state as well, because the requests in flight belong to its generation.
        to.set(from.subarray(ref.slot, ref.slot + RECORD_SIZE), slot);
      }
      ref.slot = slot;
    }
  // Makes all handles look up their records again.
  Atomics.add(to, VERSION, 1);
  return store;
}

function orUnavailable<T>(attempt: () => T): T {
  try {
    return attempt();
  } catch (cause) {
    throw new SharingUnavailableError(cause);
  }
}
