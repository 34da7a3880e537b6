import type { AllocationReply, AllocationRequest, QuotaRequest } from "@hivepace/core";
import { swarmKey } from "@hivepace/namespace";
import { keySlot } from "@hivepace/redis-client";
import { quotaError, readQuotaReply } from "./allocation-reply.ts";
import type { Answer, Call } from "./exchange.ts";

/** Builds one call for each quota; all calls go out in one round trip. Tests pass `now` to replace the server's time. */
export function allocationCalls(
  report: AllocationRequest,
  prefix: string,
  now = "",
): { calls: Call[]; slots: number[] } {
  const { namespace, quotas, ...head } = report;
  const slots: number[] = [];
  const calls = quotas.map((quota, place): Call => {
    const key = keyOf(namespace, quota);
    slots.push(keySlot(prefix + key));
    const keys = [key, `${key}:agents`, `${key}:line`, `${key}:due`];
    return { places: [place], keys, args: [JSON.stringify({ ...head, ...quota }), now] };
  });
  return { calls, slots };
}

/** Quotas with equal names and different windows or numbers of limits are different quotas. */
function keyOf(namespace: string, { name, windowMs, limits }: QuotaRequest): string {
  return `${swarmKey(namespace, name)}:${windowMs}:${limits.length}`;
}

/** Parses the replies. Throws the first error when no quota was answered. */
export function readAllocationReply(answers: readonly Answer[]): AllocationReply {
  let epochMs: number | undefined;
  let failure: Error | undefined;
  const replies = answers.map((answer) => {
    if (answer instanceof Error) {
      failure ??= answer;
      return quotaError(answer.message);
    }
    epochMs ??= Number(answer[0]) * 1_000 + Number(answer[1]) / 1_000;
    return readQuotaReply(answer);
  });
  if (epochMs === undefined) throw failure ?? new Error("no answer");
  return { epochMs, quotas: replies };
}
