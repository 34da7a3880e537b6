/** What the error bodies of the providers have in common, once their wrappings are off. */
export interface ErrorBody {
  /** The codes and types that it names, lower case. */
  readonly codes: readonly string[];
  readonly message: string;
  /** Google's details, in order. */
  readonly details: readonly Readonly<Record<string, unknown>>[];
  /** OpenRouter's and others' extra facts. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The objects that speak of the error, the innermost first. */
  readonly places: readonly Readonly<Record<string, unknown>>[];
  /** Whether the body says that it is an error, whatever the status. */
  readonly isError: boolean;
}

/** More of a text is not looked at. */
const LONGEST_TEXT = 65_536;
const LONGEST_MESSAGE = 4_096;
const MOST_DETAILS = 32;
const DEEPEST = 6;
const CODE_FIELDS = ["type", "code", "status", "reason", "error_code", "errorCode", "error_type", "__type", "name"];
/** Facts of a gateway about the error of another provider. */
const METADATA_CODES = ["error_type", "provider_error_code", "limit_source"];
/** Where providers put the words, in order of preference. */
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

/** Reads a body as it came: text, bytes of it, or what was parsed from it. */
export function readErrorBody(body: unknown): ErrorBody {
  const codes: string[] = [];
  let message = "";
  const places: Record<string, unknown>[] = [];
  let details: Record<string, unknown>[] = [];
  let metadata: Record<string, unknown> = {};
  let isError = false;
  let next: unknown = body;
  // {"error": {…}}, [{"error": {…}}], {"response": {"error": {…}}}, {"throttlingException": {…}}, JSON in a message that
  // wraps another, and what OpenRouter passes on of the upstream's answer.
  for (let depth = 0; depth < DEEPEST; depth++) {
    const value = unwrap(next);
    if (typeof value === "string") message = `${message} ${value}`.trim().slice(0, LONGEST_MESSAGE);
    if (!isRecord(value)) break;
    places.unshift(value);
    for (const field of CODE_FIELDS) {
      const code = value[field];
      if (typeof code === "string" || typeof code === "number") codes.push(codeOf(String(code)));
    }
    if (value["type"] === "error" || value["object"] === "error") isError = true;
    if (isRecord(value["details"])) for (const code of Object.values(value["details"])) pushText(codes, code);
    if (Array.isArray(value["details"])) details = recordsOf(value["details"]);
    // Google's, of today and of old.
    for (const { reason } of [...recordsOf(value["details"]), ...recordsOf(value["errors"])]) pushText(codes, reason);
    if (isRecord(value["metadata"])) {
      metadata = value["metadata"];
      for (const field of METADATA_CODES) pushText(codes, metadata[field]);
    }
    const text = TEXT_FIELDS.map((field) => value[field]).find(isText);
    const inner = text === undefined ? undefined : unwrap(text);
    const exception = Object.keys(value).find((key) => /^[a-z]+Exception$/i.test(key) && isRecord(value[key]));
    const passedOn = isRecord(value["metadata"]) ? value["metadata"]["raw"] : undefined;
    if (text !== undefined && !isRecord(inner)) {
      const title = isText(value["title"]) ? `${value["title"]}: ` : "";
      message = `${title}${text}`.slice(0, LONGEST_MESSAGE);
    }
    const envelope = envelopeOf(value);
    if (envelope?.isError) isError = true;
    for (const code of envelope?.codes ?? []) codes.push(code);
    if (value["error"] !== undefined && value["error"] !== null) {
      isError = true;
      next = value["error"];
    } else if (isRecord(value["response"]) && isRecord(value["response"]["error"])) next = value["response"];
    else if (isRecord(inner)) next = inner;
    else if (envelope !== undefined) next = envelope.inner;
    else if (exception !== undefined) {
      isError = true;
      codes.push(codeOf(exception));
      next = value[exception];
    } else if (isText(passedOn)) next = passedOn;
    else break;
  }
  if (places.length === 0 && message === "") return EMPTY;
  return { codes, message, details, metadata, places, isError };
}

interface Envelope {
  readonly inner: unknown;
  readonly isError: boolean;
  readonly codes: readonly string[];
}

/** Where an error is wrapped under another name than "error". */
function envelopeOf(value: Record<string, unknown>): Envelope | undefined {
  const { base_resp: minimax, errors, detail, fault } = value;
  if (isRecord(minimax)) {
    const code = minimax["status_code"];
    // 0 is MiniMax's success.
    return { inner: minimax, isError: code !== 0 && code !== undefined, codes: [`base_resp:${String(code)}`] };
  }
  // Cloudflare's envelope; Google's old list stands beside a message.
  if (Array.isArray(errors) && errors.length > 0 && !isText(value["message"]))
    return { inner: errors[0], isError: value["success"] === false, codes: [] };
  // FastAPI, ElevenLabs; Apigee.
  if (isRecord(detail)) return { inner: detail, isError: false, codes: [] };
  return isRecord(fault) ? { inner: fault, isError: true, codes: [] } : undefined;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function recordsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord).slice(0, MOST_DETAILS) : [];
}

function pushText(codes: string[], value: unknown): void {
  if (typeof value === "string") codes.push(codeOf(value));
}

/** Lower case, and without the namespace or address that AWS puts around it: "com.amazon.coral#Throttling…:http:…". */
export function codeOf(text: string): string {
  return text
    .slice(0, 256)
    .toLowerCase()
    .replace(/^[\w.]*#/, "")
    .replace(/:http.*$/, "");
}

/** The value that a text or bytes hold as JSON, and of a list its first. */
function unwrap(value: unknown): unknown {
  let plain = value;
  if (value instanceof Uint8Array || value instanceof ArrayBuffer)
    plain = new TextDecoder().decode(value.slice(0, LONGEST_TEXT));
  if (typeof plain === "string") {
    const text = plain.trim();
    if (/^[[{]/.test(text) && text.length <= LONGEST_TEXT) {
      try {
        plain = JSON.parse(text);
      } catch {
        // Not JSON after all: a text.
      }
    }
  }
  return Array.isArray(plain) ? plain[0] : plain;
}
