import { type AvailabilityCause, type AvailabilityReport, REMEMBERED, type Register } from "../engine/index.ts";
import { BOUNDS, clamped } from "./bounds.ts";
import { type Fields, number, numberOr, object, text, wrong } from "./fields.ts";
import { LONGEST_REASON } from "./level-fields.ts";
import { LONGEST_ID, LONGEST_NAME } from "./subjects.ts";

const bounds = BOUNDS.availability;
const STATES: readonly unknown[] = ["available", "overloaded", "broken", "parked"];
const CAUSES: readonly unknown[] = [
  "overload",
  "failures",
  "quota",
  "parked",
  "unparked",
  "probe-failed",
  "recovered",
  "ended",
];
const LONGEST_ORIGIN = 256;
const SIGNS = ["alive", "overload", "failure"] as const;
const LETTERS = { alive: "a", overload: "o", failure: "f" } as const;

/**
 * The fields of an endpoint's or model's availability in a message. They carry ages instead of times, because clocks
 * differ between agents.
 */
export function availabilityFields({ endpoint, model, register, answers }: AvailabilityReport): object {
  return {
    endpoint,
    ...(model === undefined ? {} : { model }),
    ...(register ? registerFields(register) : {}),
    ...(answers
      ? {
          answers: answers.signs.map((sign) => LETTERS[sign]).join(""),
          answered: clamped(bounds.answered, answers.count),
        }
      : {}),
  };
}

function registerFields(register: Register): object {
  const { epoch, state, cause, count, since, changedAt, waitMs, isProbed, refusalMs } = register;
  const { probes, prober, probedAt } = register;
  return {
    epoch: clamped(bounds.epoch, epoch),
    state,
    cause,
    count: clamped(bounds.count, count),
    since_age_ms: clamped(bounds.since_age_ms, since),
    age_ms: clamped(bounds.age_ms, changedAt),
    wait_ms: clamped(bounds.wait_ms, waitMs),
    ...(isProbed ? { probed: true } : {}),
    ...(refusalMs > 0 ? { refusal_ms: clamped(bounds.refusal_ms, refusalMs) } : {}),
    ...(probes > 0
      ? {
          probes: clamped(bounds.probes, probes),
          prober,
          probe_age_ms: clamped(bounds.probe_age_ms, probedAt),
        }
      : {}),
    origin: register.origin,
    reason: register.reason.slice(0, LONGEST_REASON),
  };
}

/**
 * True when peers accept the length of the names. Requests may name models of any length; the state of overlong ones
 * stays local.
 */
export function hasReadableNames({ endpoint, model = "-" }: AvailabilityReport): boolean {
  return [endpoint, model].every(({ length }) => length >= 1 && length <= LONGEST_NAME);
}

/**
 * Reads availability reports, with ages instead of times. Returns an empty list for a state or cause of a later
 * version, so that the rest of the message counts. Throws `BadMessage`.
 */
export function readAvailabilityFields(value: unknown): AvailabilityReport[] {
  const fields = object(value, "availability");
  const hasRegister = fields["epoch"] !== undefined;
  if (hasRegister && !(STATES.includes(fields["state"]) && CAUSES.includes(fields["cause"]))) return [];
  const model = fields["model"] === undefined ? undefined : text(fields, "model", LONGEST_NAME);
  return [
    {
      endpoint: text(fields, "endpoint", LONGEST_NAME),
      model,
      register: hasRegister ? readRegister(fields) : undefined,
      answers: fields["answers"] === undefined ? undefined : readAnswers(fields),
    },
  ];
}

function readAnswers(fields: Fields): NonNullable<AvailabilityReport["answers"]> {
  const letters = text(fields, "answers", REMEMBERED, 0);
  const signs = [...letters].map((letter) => {
    const sign = SIGNS.find((one) => LETTERS[one] === letter);
    if (!sign) throw wrong("answers");
    return sign;
  });
  return { signs, count: number(fields, "answered", bounds.answered) };
}

function readRegister(fields: Fields): Register {
  const { state, cause } = fields;
  const probes = numberOr(fields, "probes", 0, bounds.probes);
  return {
    epoch: number(fields, "epoch", bounds.epoch),
    state: state as Register["state"],
    cause: cause as AvailabilityCause,
    count: number(fields, "count", bounds.count),
    since: number(fields, "since_age_ms", bounds.since_age_ms),
    changedAt: number(fields, "age_ms", bounds.age_ms),
    waitMs: number(fields, "wait_ms", bounds.wait_ms),
    isProbed: fields["probed"] === true,
    refusalMs: numberOr(fields, "refusal_ms", 0, bounds.refusal_ms),
    probes,
    prober: probes > 0 ? text(fields, "prober", LONGEST_ID) : "",
    probedAt: probes > 0 ? number(fields, "probe_age_ms", bounds.probe_age_ms) : Infinity,
    origin: text(fields, "origin", LONGEST_ORIGIN),
    reason: text(fields, "reason", LONGEST_REASON, 0),
  };
}
