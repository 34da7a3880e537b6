/**
 * Entry for the importable package `hivepace`: uses no modules of Node, and loads only adapters installed beside the
 * package.
 */
export { connectBus } from "./connect-bus.ts";
export { connectStore } from "./connect-store.ts";
export { importAdapter } from "./import-adapter.ts";
