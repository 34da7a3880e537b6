import {
  type AllocationReply,
  type AllocationRequest,
  type Allocator,
  type Clock,
  SyncClosedError,
  type SyncCount,
  type SyncReply,
  type SyncReport,
  type SyncStore,
  SyncUnavailableError,
} from "@hivepace/core";
import { describeError } from "@hivepace/redis-client";
import type { AnyRedisClient } from "@hivepace/redis-client/types";
import { allocationCalls, readAllocationReply } from "./allocation.ts";
import { readAnswers } from "./answers.ts";
import type { Connection } from "./connection.ts";
import { type Answer, type Call, exchange, groupKeys, type Script } from "./exchange.ts";
import { allocateScript, syncScript, withCommand } from "./script.ts";
import { SyncKeys } from "./sync-keys.ts";

/** Milliseconds that a key outlives its window, so that late reports still find it. */
const GRACE_MS = 5_000;

/** Maximum number of namespaces with cached keys; programs use one or two. */
const MOST_NAMESPACES = 16;

/** A call in flight that can be ended before its answer. */
interface Underway {
  end(error: Error): void;
}

export class RedisSyncStore implements SyncStore, Allocator {
  readonly name = "redis";
  readonly #connection: Connection;
  readonly #connectTimeoutMs: number;
  readonly #syncTimeoutMs: number;
  readonly #clock: Clock;
  readonly #keys: SyncKeys[] = [];
  readonly #underway = new Set<Underway>();
  /**
   * Calls that timed out and are still queued in the client. The client sends in order, so a new call would wait behind
   * them.
   */
  #abandoned = 0;
  #closing: Promise<void> | undefined;

  /** `reopens`: whether a sync reopens a lost connection. */
  constructor(
    connection: Connection,
    settings: { connectTimeoutMs: number; syncTimeoutMs: number; clock: Clock },
    reopens: boolean,
  ) {
    this.#connection = connection;
    this.#connectTimeoutMs = reopens ? settings.connectTimeoutMs : 0;
    this.#syncTimeoutMs = settings.syncTimeoutMs;
    this.#clock = settings.clock;
  }

  sync(report: SyncReport): Promise<SyncReply> {
    return this.#guard(syncScript, () => this.#sync(report));
  }

  allocate(report: AllocationRequest): Promise<AllocationReply> {
    return this.#guard(allocateScript, () => this.#allocate(report));
  }

  async #guard<T>(script: Script, work: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new SyncClosedError(this.name);
    this.#connection.hold(true);
    try {
      return await work();
    } catch (error) {
      if (this.#closing) throw new SyncClosedError(this.name);
      throw new SyncUnavailableError(this.name, withCommand(describeError(error), script), { cause: error });
    } finally {
      this.#connection.hold(false);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#connection.close();
    for (const call of this.#underway) call.end(new Error("closed"));
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #sync(report: SyncReport): Promise<SyncReply> {
    const client = await this.#client();
    const { windowMs } = report;
    const { calls, slots, count } = this.#prepare(client, report);
    const answers = await this.#exchange(client, calls, slots, syncScript);
    const { epochMs, sums } = readAnswers(calls, answers, count);
    return { epochMs, window: Math.floor(epochMs / windowMs), sums };
  }

  async #allocate(report: AllocationRequest): Promise<AllocationReply> {
    const client = await this.#client();
    const { calls, slots } = allocationCalls(report, client.options.keyPrefix ?? "");
    return readAllocationReply(await this.#exchange(client, calls, slots, allocateScript));
  }

  async #client(): Promise<AnyRedisClient> {
    const client = await this.#inTime(this.#connection.client(this.#connectTimeoutMs), this.#connectTimeoutMs);
    if (this.#abandoned > 0) throw new Error("the previous command is still unanswered");
    return client;
  }

  #exchange(
    client: AnyRedisClient,
    calls: readonly Call[],
    slots: readonly number[],
    script: Script,
  ): Promise<Answer[]> {
    const work = exchange(client, calls, slots, script);
    return this.#inTime(work, this.#syncTimeoutMs, () => this.#connection.silent());
  }

  #prepare(client: AnyRedisClient, report: SyncReport) {
    const { namespace, agentId, incarnation, sequence, windowMs, window, counts, watched } = report;
    const keys = this.#keysOf(namespace, client.options.keyPrefix ?? "");
    const all = [...counts.map(({ of }) => keys.of(of)), ...watched.map((name) => keys.of(name))];
    const field = `${agentId.replaceAll("%", "%25").replaceAll("/", "%2F")}/${incarnation}`;
    const head = [windowMs, window ?? "", field, sequence, Math.ceil(windowMs) + GRACE_MS].map(String);
    const slots: number[] = [];
    const calls = groupKeys(all, client).map((places): Call => {
      slots.push(all[places[0] as number]?.slot ?? 0);
      const args = [...head];
      // Changed keys come first in the report, and therefore first in each group.
      for (const place of places) {
        if (place >= counts.length) break;
        const { requests, tokens } = counts[place] as SyncCount;
        args.push(String(requests), String(tokens));
      }
      return { places, keys: places.map((place) => all[place]?.key as string), args };
    });
    return { calls, slots, count: all.length };
  }

  #keysOf(namespace: string, prefix: string): SyncKeys {
    const known = this.#keys.find((keys) => keys.namespace === namespace);
    if (known) return known;
    const keys = new SyncKeys(namespace, prefix);
    this.#keys.unshift(keys);
    this.#keys.length = Math.min(this.#keys.length, MOST_NAMESPACES);
    return keys;
  }

  /** Settles like the work; rejects after the timeout or when the store closes. A late result is discarded. */
  #inTime<T>(work: Promise<T>, timeoutMs: number, onLate = (): void => {}): Promise<T> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const over = (): void => {
        isOver = true;
        cancel();
        this.#underway.delete(call);
      };
      const call: Underway = {
        end: (error) => {
          over();
          this.#abandoned++;
          reject(error);
        },
      };
      const late = (): void => {
        call.end(new Error(`no answer within ${timeoutMs} ms`));
        onLate();
      };
      const cancel = timeoutMs > 0 ? this.#clock.after(timeoutMs, late) : () => {};
      this.#underway.add(call);
      const settle = (then: () => void): void => {
        if (isOver) this.#abandoned--;
        else {
          over();
          then();
        }
      };
      work.then(
        (value) => settle(() => resolve(value)),
        (error: unknown) => settle(() => reject(error)),
      );
    });
  }
}
