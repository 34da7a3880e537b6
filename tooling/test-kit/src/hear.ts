import { type ChannelListener, subscribe, unsubscribe } from "node:diagnostics_channel";

/** The events published on a set of `diagnostics_channel`s. Disposing stops the recording. */
export interface Heard<Events> extends Disposable {
  readonly all: readonly { readonly name: keyof Events; readonly event: object }[];
  of<N extends keyof Events>(name: N): Events[N][];
}

/** Records the events of these channels until disposed. */
export function hear<Events>(names: readonly (keyof Events & string)[]): Heard<Events> {
  const all: { name: keyof Events; event: object }[] = [];
  const listen: ChannelListener = (event, name) => all.push({ name: name as keyof Events, event: event as object });
  for (const name of names) subscribe(name, listen);
  return {
    all,
    of: <N extends keyof Events>(name: N) =>
      all.filter((each) => each.name === name).map(({ event }) => event as Events[N]),
    [Symbol.dispose]: () => {
      for (const name of names) unsubscribe(name, listen);
    },
  };
}
