import { type BusEvents, BusUnavailableError } from "@hivepace/bus";
import { systemClock } from "@hivepace/core";
import { messageOf, warn } from "@hivepace/core/internal";
import { isRefusedLogin, type KafkaBatch, type LinkClient } from "./client.ts";
import type { Inbox } from "./inbox.ts";
import { KafkaLink } from "./kafka-link.ts";
import type { KafkaSettings } from "./options.ts";
import { KafkaRefusal } from "./topic.ts";
import { type Deferred, deferred, pause, TooLateError, within } from "./waiting.ts";

/** Bounds of the backoff between attempts to open a link. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** The number of latest consumer groups that `close` deletes; the broker expires older groups by itself. */
const GROUPS_KEPT = 10;
/** Milliseconds that `close` waits for operations of earlier links on a lent client, which end by themselves. */
const LEFTOVERS_MS = 3_000;

export interface KeeperOptions {
  readonly clients: () => LinkClient;
  readonly settings: KafkaSettings;
  readonly inbox: Inbox;
  readonly state: BusEvents["state"];
  readonly batch: (batch: KafkaBatch, link: KafkaLink) => void;
}

/** Keeps a link to the broker open: opens one, waits until it is lost, and opens the next. */
export class LinkKeeper {
  readonly #options: KeeperOptions;
  readonly #opened = deferred<void>();
  readonly #leftovers = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #groups: string[] = [];
  #link: KafkaLink | undefined;
  #whenUp: Deferred<KafkaLink> = deferred();
  #isOpened = false;
  #isReached = false;
  #giveUpAt: number;
  #trouble: unknown;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#giveUpAt = systemClock.now() + options.settings.connectTimeoutMs;
    void this.#keep();
  }

  /**
   * Resolves when the bus is ready, or with `waitForBroker` when it may be used; rejects when further attempts are
   * pointless.
   */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** The newest link, in any state. */
  get link(): KafkaLink | undefined {
    return this.#link;
  }

  /** The latest reason why no link could be opened. */
  get awayReason(): string | undefined {
    return this.#trouble === undefined ? undefined : messageOf(this.#trouble);
  }

  /** Resolves with the link that is up, or with the next one. */
  async whenUp(): Promise<KafkaLink> {
    const link = await this.#whenUp.promise;
    if (this.#closing.signal.aborted) throw new Error("the bus is closed");
    return link;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const leftovers = Promise.all(this.#leftovers);
    await Promise.all([
      this.#link?.close(this.#groups),
      within(LEFTOVERS_MS, leftovers, "earlier links did not end").catch(() => {}),
    ]);
  }

  async #keep(): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted) {
      const link = this.#newLink();
      try {
        await this.#open(link);
      } catch (error) {
        this.#leave(link);
        if (signal.aborted || !this.#goOn(error, failures)) return;
        await pause(Math.min(FIRST_PAUSE_MS * 2 ** failures++, LONGEST_PAUSE_MS), signal, this.#isOpened);
        continue;
      }
      failures = 0;
      this.#trouble = undefined;
      this.#whenUp.resolve(link);
      this.#options.state("ready");
      this.#mayUse();
      await link.lost;
      if (signal.aborted) return;
      this.#whenUp = deferred();
      this.#options.state("interrupted");
      this.#leave(link);
    }
  }

  /** Resolves `opened`, which hands the bus to the user. */
  #mayUse(): void {
    this.#isOpened = true;
    this.#opened.resolve();
  }

  #newLink(): KafkaLink {
    const { clients, settings, inbox, batch } = this.#options;
    const link: KafkaLink = new KafkaLink(clients(), {
      topic: settings.topic,
      createTopic: settings.createTopic,
      // Every link uses a new group: the old group would wait for its previous member, which is this process.
      group: settings.groupPrefix + crypto.randomUUID(),
      batch: (records) => batch(records, link),
      next: () => inbox.next,
    });
    this.#link = link;
    return link;
  }

  async #open(link: KafkaLink): Promise<void> {
    const { settings, inbox } = this.#options;
    const { connectTimeoutMs, joinTimeoutMs } = settings;
    const lost = link.lost.then((reason) => Promise.reject(reason));
    const reachMs = this.#isOpened ? connectTimeoutMs : Math.max(1, this.#giveUpAt - systemClock.now());
    const background = this.#isOpened;
    const range = await within(reachMs, link.reach(), "the broker could not be reached", { unless: lost, background });
    // The broker was reached. Joining has its own deadline, and on a starting broker may need more than one attempt.
    if (!this.#isReached) this.#giveUpAt = systemClock.now() + joinTimeoutMs;
    this.#isReached = true;
    if (settings.waitForBroker) this.#mayUse();
    const missed = inbox.resume(range);
    if (missed > 0)
      warn("HIVEPACE_KAFKA_LOST", `the kafka bus was away for too long and missed ${missed} records of its topic`);
    this.#groups = [...this.#groups.slice(1 - GROUPS_KEPT), link.group];
    try {
      await within(joinTimeoutMs, link.join(), "the broker did not answer", {
        unless: lost,
        background: this.#isOpened,
      });
    } catch (error) {
      throw new Error(`cannot join the group ${link.group}: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Returns whether to try again. Otherwise the failure has already been reported. */
  #goOn(error: unknown, failures: number): boolean {
    // A timeout is less informative than the failure before it.
    if (!(error instanceof TooLateError)) this.#trouble = error;
    const cause = this.#trouble ?? error;
    const login = isRefusedLogin(error);
    const detail = login ? "the broker refused the credentials" : messageOf(cause);
    const refusal = error instanceof KafkaRefusal ? error : new BusUnavailableError("kafka", detail, { cause });
    const isRefused = login || error instanceof KafkaRefusal;
    if (this.#isOpened) {
      // A refused topic may be granted later; revoked credentials would only be refused again.
      if (isRefused && failures === 0) warn("HIVEPACE_KAFKA_REFUSED", refusal.message, error);
      if (login) this.#options.state("closed");
      return !login;
    }
    if (isRefused || (!this.#options.settings.waitForBroker && systemClock.now() >= this.#giveUpAt)) {
      this.#opened.reject(refusal);
      return false;
    }
    if (this.#options.settings.waitForBroker) this.#mayUse();
    return true;
  }

  #leave(link: KafkaLink): void {
    const leaving = link.abandon().then(() => void this.#leftovers.delete(leaving));
    this.#leftovers.add(leaving);
  }
}
