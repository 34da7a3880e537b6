import type { Agent } from "../agent.ts";
import type { Amounts } from "../amounts.ts";
import type { Quota } from "../quota.ts";

/**
 * Method by which an agent obtains its part of a quota at present.
 * - `joining`: too new to send; the agent learns the usage of its peers
 * - `alone`: no other agent is known, so the whole limit is available
 * - `member`: capacity is shared on the bus, by parts of the free capacity and by claims
 * - `isolated`: neither peers nor the store can be reached; a part of the last agreement is available
 * - `allocated`: a store grants capacity
 */
export type ModeName = "joining" | "alone" | "member" | "isolated" | "allocated";

/** The behaviour of a mode. Pauses are handled before a mode is consulted. Modes have no state of their own. */
export interface Mode {
  readonly name: ModeName;
  /** Called by `step` before any decision in this mode. */
  enter(agent: Agent, quota: Quota, now: number): void;
  /**
   * Returns the permit by which a call of this cost may be sent now; undefined when there is none. Changes nothing.
   * `capacity` is the present capacity of the quota.
   */
  permit(agent: Agent, quota: Quota, cost: Amounts, capacity: Amounts, now: number): Permit | undefined;
  /** Acts on waiting demand, for instance by opening a claim. */
  pursue(agent: Agent, quota: Quota, next: Amounts, now: number): void;
  /**
   * Time at which the next waiting call should try again: `now` if it may succeed now, Infinity if only another event
   * can change that. Never too late, possibly too early.
   */
  retryAt(agent: Agent, quota: Quota, next: Amounts, now: number): number;
  /**
   * Estimates when a call could be sent behind calls that take `ahead`, for callers. Not before `freeAt`, when the
   * level holds the cost and no pause is running.
   */
  availableAt(
    agent: Agent,
    quota: Quota,
    cost: Amounts,
    ahead: Amounts | undefined,
    freeAt: number,
    now: number,
  ): number;
  /** The amounts that may be taken now. */
  available(agent: Agent, quota: Quota, now: number): Amounts;
  /** This agent's share of the capacity, per window. */
  share(agent: Agent, quota: Quota, now: number): Amounts;
}

/** The right by which a call is sent. */
export interface Permit {
  /** Records the capacity that the permit uses up besides the usage that every call is charged. */
  spend(agent: Agent, quota: Quota, cost: Amounts, now: number): void;
}

/** A permit that uses up nothing besides the charged usage. */
export const FREE: Permit = { spend() {} };
