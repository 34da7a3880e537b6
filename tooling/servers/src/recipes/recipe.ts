import type { ServerKind } from "../kinds.ts";
import type { Launch } from "../process/launch.ts";
import type { Place } from "../process/place.ts";
import type { Probe } from "../process/probe.ts";
import type { Source } from "../provision/source.ts";

/** A program that can run a server of its kind. */
export interface Program<Options> {
  /** The location of the program, for output. */
  readonly detail: string;
  /** Limitations in comparison with the real server. */
  readonly limits?: string;
  launch(place: Place, options: Options): Promise<Launch>;
}

/** The differences between kinds of servers. */
export interface Recipe<Options> {
  readonly kind: ServerKind;
  readonly probe: Probe;
  /** Time limit of a start. */
  readonly startMs: number;
  readonly sources: readonly Source<Program<Options>>[];
  url(host: string, port: number): string;
}
