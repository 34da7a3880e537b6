import { ResourceUnknownError } from "@hivepace/core";
import { listOf, nearestOf, show } from "@hivepace/core/internal";

/** The endpoints of a hive, and the models for which each has limits. */
interface Known {
  ids(): readonly string[];
  modelsOf(endpoint: string): readonly string[];
}

/** The error for a call that names only endpoints, or a model, without limits: says what is known and how to add it. */
export function unknownEndpoint(
  asked: string | readonly string[],
  model: string | undefined,
  known: Known,
): ResourceUnknownError {
  const names = typeof asked === "string" ? [asked] : asked;
  const ids = known.ids();
  const ofModels = names.find((name) => ids.includes(name));
  if (ofModels !== undefined) {
    const kind = model === undefined ? "endpoint without a model" : `model ${show(model)} of endpoint`;
    const advice = `it has limits for ${listOf(known.modelsOf(ofModels))} only; add an entry with this id for others`;
    return new ResourceUnknownError(ofModels, kind, ids, advice);
  }
  const nearest = names.length === 1 ? nearestOf(names[0] ?? "", ids) : undefined;
  const meant = nearest === undefined ? "" : `did you mean ${show(nearest)}? Otherwise `;
  const advice = `known are ${listOf(ids)}; ${meant}add it to \`endpoints\`, or with addEndpoint()`;
  return new ResourceUnknownError(asked, "endpoint", ids, advice);
}
