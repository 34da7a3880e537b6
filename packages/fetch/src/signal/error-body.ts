import { isRecord, parseJson } from "../untyped.ts";
import { envelopeOf } from "./error-envelopes.ts";
import { plainText } from "./html-text.ts";
import { jsonInText } from "./json-in-text.ts";

/** The parts that error bodies of all providers have in common, without their wrappers. */
export interface ErrorBody {
  /** Codes, types and statuses that the body names, lower case. */
  readonly codes: readonly string[];
  readonly message: string;
  /** Google's details, in order. */
  readonly details: readonly Readonly<Record<string, unknown>>[];
  /** Additional facts of OpenRouter and others. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The objects that describe the error, the innermost first. */
  readonly places: readonly Readonly<Record<string, unknown>>[];
  /** Whether the body describes an error, whatever the status. */
  readonly isError: boolean;
}

/** The name of an event whose data is an error, even if nothing in the data says so: Alibaba's. */
export const ERROR_EVENT = /^event: ?error\s*$/;
/** Longer texts are not parsed as JSON. */
const LONGEST_TEXT = 262_144;
const LONGEST_MESSAGE = 4_096;
const MOST_DETAILS = 32;
const MOST_CODES = 64;
const DEEPEST = 8;
const CODE_FIELDS = [
  "type",
  "code",
  "Code",
  "status",
  "reason",
  "error_code",
  "errorCode",
  "error_type",
  "errorType",
  "__type",
  "name",
  "statusCode",
  "status_code",
  "http_code",
];
/** Facts of a gateway about the error of another provider. */
const METADATA_CODES = ["error_type", "provider_error_code", "limit_source"];
/** Fields with the text of the error, in order of preference. */
const TEXT_FIELDS = [
  "message",
  "Message",
  "detail",
  "error_description",
  "error_msg",
  "error_message",
  "errorMessage",
  "msg",
  "status_msg",
  "faultstring",
];

const EMPTY: ErrorBody = { codes: [], message: "", details: [], metadata: {}, places: [], isError: false };

/**
 * Reads a body in any form: text, bytes of it, or the value that was parsed from it. `isError` says that the status is one of
 * an error: only the words of an error are searched for the JSON of another.
 */
export function readErrorBody(body: unknown, isError: boolean): ErrorBody {
  const reader = new BodyReader(isError);
  let next: unknown = body;
  for (let depth = 0; depth < DEEPEST && next !== undefined; depth++) next = reader.read(next);
  const { codes, message, details, metadata, places } = reader;
  if (places.length === 0 && message === "") return EMPTY;
  return { codes: codes.slice(0, MOST_CODES), message, details, metadata, places, isError: reader.isError };
}

/** Collects the facts of a body layer by layer, from the outside to the inside. */
class BodyReader implements ErrorBody {
  readonly codes: string[] = [];
  message = "";
  details: Record<string, unknown>[] = [];
  metadata: Record<string, unknown> = {};
  readonly places: Record<string, unknown>[] = [];
  isError = false;
  readonly #isErrorStatus: boolean;
  /** Words around JSON that a text quotes. They may say more than the JSON does. */
  #around = "";

  constructor(isErrorStatus: boolean) {
    this.#isErrorStatus = isErrorStatus;
  }

  /** Reads one layer and returns the layer inside of it, or undefined at the innermost. */
  read(layer: unknown): unknown {
    const value = unwrap(layer);
    if (typeof value === "string") {
      this.#say(`${this.message} ${plainText(value)}`);
      return this.#quotedError(value);
    }
    if (!isRecord(value)) return undefined;
    this.places.unshift(value);
    this.#addCodes(value);
    if (value["type"] === "error" || value["object"] === "error") this.isError = true;
    const text = TEXT_FIELDS.map((field) => unwrap(value[field])).find(isText);
    if (text !== undefined) this.#say(`${isText(value["title"]) ? `${value["title"]}: ` : ""}${plainText(text)}`);
    const quoted = TEXT_FIELDS.map((field) => unwrap(value[field])).find(isRecord) ?? this.#quotedError(text ?? "");
    const envelope = envelopeOf(value, quoted);
    if (envelope === undefined) return undefined;
    if (envelope.isError) this.isError = true;
    this.codes.push(...(envelope.codes ?? []).map(codeOf));
    return envelope.inner;
  }

  #say(text: string): void {
    this.message = `${this.#around} ${text}`.trim().slice(0, LONGEST_MESSAGE);
  }

  /** Returns the error that the words of an error quote: "Upstream error: {…}". */
  #quotedError(text: string): unknown {
    if (!(this.isError || this.#isErrorStatus) || !text.includes("{")) return undefined;
    const { value, around } = jsonInText(text.slice(0, LONGEST_TEXT)) ?? {};
    const inner = Array.isArray(value) ? value[0] : value;
    if (!isRecord(inner) || !describesError(inner)) return undefined;
    this.#around = plainText(around ?? "");
    return inner;
  }

  #addCodes(value: Record<string, unknown>): void {
    for (const field of CODE_FIELDS) {
      const code = value[field];
      if (typeof code === "string" || typeof code === "number") this.codes.push(codeOf(String(code)));
    }
    const { details, errors, metadata } = value;
    if (isRecord(details)) for (const code of Object.values(details)) this.#addCode(code);
    if (Array.isArray(details)) this.details = recordsOf(details);
    // Google's reasons, in the format of today and in the old one.
    for (const { reason } of [...recordsOf(details), ...recordsOf(errors)]) this.#addCode(reason);
    if (!isRecord(metadata)) return;
    this.metadata = metadata;
    for (const field of METADATA_CODES) this.#addCode(metadata[field]);
  }

  #addCode(value: unknown): void {
    if (typeof value === "string") this.codes.push(codeOf(value));
  }
}

/** JSON that an error quotes may also be a part of the request. */
function describesError(value: Record<string, unknown>): boolean {
  if (envelopeOf(value, undefined) !== undefined || value["type"] === "error") return true;
  return TEXT_FIELDS.some((field) => isText(value[field])) && CODE_FIELDS.some((field) => value[field] !== undefined);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function recordsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord).slice(0, MOST_DETAILS) : [];
}

/** Lower case, without the namespace and the address that AWS adds: "com.amazon.coral#Throttling…:http:…". */
export function codeOf(text: string): string {
  return text
    .slice(0, 256)
    .toLowerCase()
    .replace(/^[\w.]*#/, "")
    .replace(/:http.*$/, "");
}

/** Takes the value out of bytes, of texts that hold JSON, also quoted ones, and of lists, whose first item counts. */
function unwrap(value: unknown): unknown {
  let inner = value;
  for (let depth = 0; depth < DEEPEST; depth++) {
    const next = Array.isArray(inner) ? inner[0] : parsed(inner);
    if (next === inner) break;
    inner = next;
  }
  return inner;
}

/** The JSON value of bytes or a text; the text of bytes that are not JSON; other values as they are. */
function parsed(value: unknown): unknown {
  const isBytes = value instanceof Uint8Array || value instanceof ArrayBuffer;
  const whole = isBytes ? new TextDecoder().decode(value.slice(0, LONGEST_TEXT)) : value;
  if (typeof whole !== "string") return whole;
  const text = errorEventOf(whole.trim());
  if (!/^[[{"]/.test(text) || text.length > LONGEST_TEXT) return whole;
  return parseJson(text) ?? parseJson(text.slice(0, text.indexOf("\n") + 1)) ?? whole;
}

/** Some gateways send the events of a stream with an error's status. Returns the data of the one that is an error. */
function errorEventOf(text: string): string {
  if (!/^(?:event|data|id|retry)?:/.test(text)) return text;
  const lines = text.slice(0, LONGEST_TEXT).split(/\r\n|\n|\r/);
  const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice("data:".length).trim());
  const named = lines.findIndex((line) => ERROR_EVENT.test(line));
  const ofNamed = named < 0 ? undefined : lines.slice(named).find((line) => line.startsWith("data:"));
  const event = data.find((line) => line.includes('"error"'));
  if (event === undefined && ofNamed?.includes("{")) return `{"error":${ofNamed.slice("data:".length)}}`;
  return event ?? data[0] ?? text;
}
