/**
 * Resolves when every promise that can settle without a timer or I/O has settled, because a macrotask runs after all
 * microtasks. Virtual time calls this function between two events, so that the order of events does not depend on the
 * depth of promise chains.
 */
export function settlePromises(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve);
  });
}
