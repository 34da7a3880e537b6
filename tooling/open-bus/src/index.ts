export { type BusAddress, type BusKind, busKinds, parseBusAddress, shownAddress } from "./bus-address.ts";
export { type OpenBusOptions, openBus } from "./open-bus.ts";
