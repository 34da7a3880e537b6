export { type BusAddress, type BusKind, busKinds, parseBusAddress, shownAddress } from "./bus-address.ts";
export { fileFrom, isMissing, loadAdapter } from "./load-adapter.ts";
export { busAdapters, type OpenBusOptions, openBus } from "./open-bus.ts";
