export { type BusAddress, type BusKind, busKinds, parseBusAddress, shownAddress } from "./bus-address.ts";
export { busAdapters } from "./connect-bus.ts";
export { isMissing } from "./import-adapter.ts";
export { fileFrom, loadAdapter } from "./load-adapter.ts";
export { type OpenBusOptions, openBus } from "./open-bus.ts";
