import type { ServerKind } from "../kinds.ts";
import type { Launch } from "../process/launch.ts";
import type { Place } from "../process/place.ts";
import type { Probe } from "../process/probe.ts";
import type { Source } from "../provision/source.ts";

/** Something that can be run as a server of its kind. */
export interface Program<Options> {
  /** For people: where it is. */
  readonly detail: string;
  /** What it cannot do that the real server can. */
  readonly limits?: string;
  launch(place: Place, options: Options): Promise<Launch>;
}

/** All that differs between one kind of server and another. */
export interface Recipe<Options> {
  readonly kind: ServerKind;
  readonly probe: Probe;
  /** How long a start may take before it counts as failed. */
  readonly startMs: number;
  readonly sources: readonly Source<Program<Options>>[];
  url(host: string, port: number): string;
}
