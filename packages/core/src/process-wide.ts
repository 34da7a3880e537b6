/**
 * Returns state that all copies of this package in one JavaScript realm share: the ES modules, the CommonJS build, and
 * a second installation. The key contains the version of the state's shape.
 */
export function processWide<T>(key: string, make: () => T): T {
  const shared = globalThis as unknown as Record<symbol, T | undefined>;
  const symbol = Symbol.for(`hivepace.${key}`);
  shared[symbol] ??= make();
  return shared[symbol];
}
