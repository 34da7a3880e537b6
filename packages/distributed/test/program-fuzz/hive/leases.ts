import { stable } from "../core/numbers.ts";
import { need } from "../core/violation.ts";
import { type Amounts, amountsOf } from "./amounts.ts";
import { clear } from "./ledger.ts";
import type { Command } from "./program.ts";
import { DEFAULT_LEASE_MS, type Held, type State } from "./state.ts";

/** Ends or renews one of the granted leases, whether or not it is still open. */
export function endLease(state: State, command: Extract<Command, { lease: number }>): void {
  const held = state.held[command.lease % Math.max(1, state.held.length)];
  if (!held) return;
  const { lease, entry, amounts, owner } = held;
  const wasOpen = held.isOpen;
  const before = wasOpen ? undefined : stable(owner.hive.status());
  state.ending = lease;
  if (command.do === "answered") lease.answered();
  else if (command.do === "renew") {
    lease.renew();
    if (wasOpen && held.expiresAt < Infinity)
      held.expiresAt = state.clock.now() + (state.setup.options.leaseMs ?? DEFAULT_LEASE_MS);
  } else {
    held.isOpen = false;
    if (command.do === "done") {
      const used = command.part === undefined ? undefined : { tokens: Math.floor(amounts.tokens * command.part) };
      lease.done(used);
      if (wasOpen && used) settle(state, held, amountsOf(used));
    } else {
      const { do: how, lease: _, ...refusal } = command;
      if (how === "cancel") lease.cancel();
      else if (how === "failed") lease.failed({ reason: "500", ...refusal });
      else lease.refused({ reason: "429", ...refusal });
      const wasSent = command.do === "failed" && command.wasSent !== false;
      if (wasOpen && !wasSent) clear(entry);
    }
  }
  state.ending = undefined;
  const isSame = before === undefined || before === stable(owner.hive.status());
  need(isSame, "leases", () => "a lease that had ended changed something");
}

/**
 * Settles a grant: lower usage than estimated is corrected at the time of the grant, and additional usage counts from
 * now on.
 */
export function settle(state: State, { entry, amounts, owner }: Held, used: Amounts): void {
  const { target, key, limits } = entry;
  const more = { requests: 0, tokens: 0, inputTokens: 0, outputTokens: 0 };
  for (const dimension of ["tokens", "inputTokens", "outputTokens"] as const) {
    const difference = used[dimension] - amounts[dimension];
    if (difference > 0) more[dimension] = difference;
    else entry[dimension] = used[dimension];
  }
  if (entry.isForgotten || more.tokens + more.inputTokens + more.outputTokens === 0) return;
  state.disturb();
  state.ledger.add({ at: state.clock.now(), owner: owner.index, target, key, limits, counted: more, ...more });
}
