import { isRecord } from "../untyped.ts";

/** The layer below an object of an error body. */
export interface Envelope {
  readonly inner: unknown;
  /** Whether the wrapper alone marks the answer as an error. */
  readonly isError?: boolean;
  /** Codes in the name or the fields of the wrapper itself. */
  readonly codes?: readonly string[];
}

type Body = Readonly<Record<string, unknown>>;
/** Returns the layer that one kind of wrapper holds; undefined when the object is not of this kind. */
type Wrapper = (body: Body) => Envelope | undefined;

/** The wrappers in use, the most specific first. A new one is a function here. */
const WRAPPERS: readonly Wrapper[] = [
  // {"error": …}: nearly all providers. Some send an empty one with each success.
  ({ error, Error: upper = error }) => (hasContent(upper) ? { inner: upper, isError: true } : undefined),
  // {"response": {"error": …}}: the Responses API, in a stream.
  ({ response }) => (isRecord(response) && hasContent(response["error"]) ? { inner: response } : undefined),
  // {"Response": {"Error": …}}: Tencent's API, with status 200.
  ({ Response }) => (isRecord(Response) && hasContent(Response["Error"]) ? { inner: Response } : undefined),
  // {"choices": [{"error": …}]}: OpenRouter, when the upstream fails after the start of the answer.
  ({ choices }) => {
    const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
    return isRecord(first) && isRecord(first["error"]) ? { inner: { error: first["error"] } } : undefined;
  },
];

const MORE_WRAPPERS: readonly Wrapper[] = [
  // {"base_resp": {"status_code": 1002}}: MiniMax. 0 is its success.
  ({ base_resp: inner }) => {
    if (!isRecord(inner)) return undefined;
    const { status_code: code } = inner;
    return { inner, isError: code !== 0 && code !== undefined, codes: [`base_resp:${String(code)}`] };
  },
  // {"error_code": 18, "error_msg": "…"}, {"code": 336501, "msg": "…"}: Baidu, with status 200.
  ({ code, error_code: number = code, error_msg: text, msg }) => {
    const isBaidu = typeof text === "string" || (typeof msg === "string" && /^336\d{3}$/.test(String(number)));
    return isBaidu && Number(number) > 0 ? { inner: undefined, isError: true } : undefined;
  },
  // {"errors": [{…}], "success": false}: Cloudflare. Google's old list stands beside a message.
  ({ errors, success, message }) => {
    const isList = Array.isArray(errors) && errors.length > 0;
    if (!(isList || isRecord(errors)) || (typeof message === "string" && message !== "")) return undefined;
    return { inner: errors, isError: success === false };
  },
  // {"success": false, "code": 429, "msg": "…"}: gateways, with status 200.
  ({ success, code, msg, message = msg }) => {
    const isFailure = success === false && code !== undefined && typeof message === "string";
    return isFailure ? { inner: undefined, isError: true } : undefined;
  },
  // {"detail": {…}}: FastAPI, ElevenLabs. {"innererror": {…}}: Azure.
  ({ detail, innererror: inner = detail }) => (typeof inner === "object" && hasContent(inner) ? { inner } : undefined),
  // {"fault": {…}}: Apigee.
  ({ fault }) => (hasContent(fault) ? { inner: fault, isError: true } : undefined),
  // {"throttlingException": {…}}: events of Bedrock's streams.
  (body) => {
    const name = Object.keys(body).find((key) => /^[a-z]+Exception$/i.test(key) && isRecord(body[key]));
    return name === undefined ? undefined : { inner: body[name], isError: true, codes: [name] };
  },
  // {"metadata": {"raw": …}}: OpenRouter passes on the answer of the upstream.
  ({ metadata }) => {
    const raw = isRecord(metadata) ? metadata["raw"] : undefined;
    return hasContent(raw) ? { inner: raw } : undefined;
  },
  // {"data": {"error": …}}, {"body": "{\"error\": …}"}: gateways.
  (body) => {
    const inner = [body["data"], body["result"], body["body"]].find((one) =>
      isRecord(one) ? hasContent(one["error"]) : typeof one === "string" && /^\s*\{.*"error"/s.test(one),
    );
    return inner === undefined ? undefined : { inner };
  },
];

/** Returns the layer inside of an object; `quoted` is an object that stands in place of its message. */
export function envelopeOf(body: Body, quoted: unknown): Envelope | undefined {
  return firstOf(WRAPPERS, body) ?? (quoted === undefined ? firstOf(MORE_WRAPPERS, body) : { inner: quoted });
}

function firstOf(wrappers: readonly Wrapper[], body: Body): Envelope | undefined {
  for (const wrapper of wrappers) {
    const found = wrapper(body);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Neither absent nor empty: some answers have `"error": null`, `""`, `false` or `{}` when all went well. */
function hasContent(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return typeof value === "string" ? value !== "" : value === true || (typeof value === "number" && value !== 0);
}
