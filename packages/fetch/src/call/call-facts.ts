import { isRecord, parseJson } from "../untyped.ts";

/** The API whose format a request has. */
export type Protocol = "openai" | "anthropic" | "gemini" | "other";

/** The facts that a request states: its model, sizes and limits. */
export interface CallFacts {
  readonly protocol: Protocol;
  readonly model: string | undefined;
  /** Text of the prompt, in bytes as UTF-8. */
  readonly inputBytes: number;
  /** Images and other files in the prompt. */
  readonly attachments: number;
  /** Input that the server adds: earlier answers, uploaded files, images and documents behind addresses. */
  readonly references?: number | undefined;
  /** Whether the call continues an earlier answer that the server keeps. */
  readonly continues?: boolean | undefined;
  /** Upper bound of the output tokens of all answers together. */
  readonly maxOutputTokens: number | undefined;
  /** Whether the call only counts the tokens of a prompt, which has limits of its own. */
  readonly isTokenCount?: boolean | undefined;
  /** Whether the call uses no tokens at all: a list, an upload, speech, moderation, token counting. */
  readonly isFree?: boolean | undefined;
}

const PATHS: readonly (readonly [RegExp, Protocol])[] = [
  [/\/(?:chat\/completions|completions|responses|embeddings)$/, "openai"],
  [/\/messages(?:\/count_tokens)?$/, "anthropic"],
  // Anthropic's models on Vertex AI.
  [/\/publishers\/anthropic\/models\/[^/]+:\w+$/, "anthropic"],
  [/\/models\/[^/]+:\w+$/, "gemini"],
];
/** A run of base64 of at least this length is a file, not text. */
const FILE_FROM_CHARACTERS = 1_024;
const BASE64 = /^[\w+/=-]+$/;
const DEEPEST = 24;
/** Calls whose answers have no output tokens. */
const WITHOUT_OUTPUT = /\/(?:embeddings|count_tokens)$|:(?:embedContent|batchEmbedContents|countTokens)$/;

const TOKEN_COUNT = /\/(?:count_tokens|count-tokens|input_tokens)$|\/count-tokens:\w+$|:countTokens$/;
/** Calls that use no tokens at any provider. */
const FREE =
  /\/(?:moderations|audio\/(?:speech|transcriptions|translations)|files|uploads|batches|rerank|tokenize|detokenize)(?:\/|$)/;
const READING = /^(?:GET|HEAD|OPTIONS|DELETE)$/i;

/** Reads the path and, where there is one, the JSON body. Never throws. */
export function readCall(path: string, body: string | undefined, method = "POST"): CallFacts {
  const facts = readShape(path, body);
  const isFree = READING.test(method) || TOKEN_COUNT.test(path) || FREE.test(path);
  return isFree ? { ...facts, isFree, maxOutputTokens: 0 } : facts;
}

function readShape(path: string, body: string | undefined): CallFacts {
  const protocol = PATHS.find(([pattern]) => pattern.test(path))?.[1] ?? "other";
  const json = body === undefined ? undefined : parseJson(body);
  if (!isRecord(json)) {
    const model = modelOfPath(path);
    return {
      protocol,
      model,
      inputBytes: body === undefined ? 0 : byteLength(body),
      attachments: 0,
      maxOutputTokens: undefined,
    };
  }
  return {
    protocol,
    model: typeof json["model"] === "string" ? json["model"] : modelOfPath(path),
    ...measureInput(json),
    ...(EARLIER.some((key) => json[key] !== undefined && json[key] !== null) ? { continues: true } : {}),
    maxOutputTokens: WITHOUT_OUTPUT.test(path) ? 0 : maxOutputTokens(json),
    ...(TOKEN_COUNT.test(path) ? { isTokenCount: true } : {}),
  };
}

/** Measures the input that the model reads. */
export function measureInput(value: unknown): Pick<CallFacts, "inputBytes" | "attachments" | "references"> {
  const size: Size = { bytes: 0, attachments: 0, references: 0 };
  measure(value, size, 0);
  const { bytes: inputBytes, attachments, references } = size;
  return { inputBytes, attachments, ...(references > 0 ? { references } : {}) };
}

interface Size {
  bytes: number;
  attachments: number;
  references: number;
}

/** Fields that name an earlier answer, in OpenAI's Responses API. */
const EARLIER = ["previous_response_id", "conversation"];
const REFERENCE_KEYS = new Set([...EARLIER, "file_id", "fileUri", "file_uri", "file_url", "cachedContent"]);
const ADDRESS_KEYS = new Set(["url", "image_url"]);

function isReference(key: string, value: unknown): boolean {
  if (REFERENCE_KEYS.has(key)) return value !== null && value !== undefined;
  return ADDRESS_KEYS.has(key) && typeof value === "string" && /^(?:https?|gs|s3):\/\//.test(value);
}

/** Gemini, Azure and Bedrock name the model in the path. */
function modelOfPath(path: string): string | undefined {
  const model = /\/(?:models|deployments|model)\/([^/:]+)/.exec(path)?.[1];
  try {
    return model === undefined ? undefined : decodeURIComponent(model);
  } catch {
    return model;
  }
}

function maxOutputTokens(json: Record<string, unknown>): number | undefined {
  const config = isRecord(json["generationConfig"]) ? json["generationConfig"] : {};
  const inference = isRecord(json["inferenceConfig"]) ? json["inferenceConfig"] : {};
  const limits = [
    json["max_completion_tokens"],
    json["max_output_tokens"],
    json["max_tokens"],
    config["maxOutputTokens"],
    inference["maxTokens"],
  ];
  const limit = limits.find(
    (value): value is number => typeof value === "number" && value >= 0 && Number.isFinite(value),
  );
  const answers = [json["n"], json["best_of"], config["candidateCount"]].filter((n) => typeof n === "number");
  return limit === undefined ? undefined : limit * Math.min(128, Math.max(1, ...answers));
}

/**
 * Adds a value to the size. Text counts by its bytes. The bytes of a file do not determine its tokens, so each file
 * counts as one attachment.
 */
function measure(value: unknown, size: Size, depth: number): void {
  if (depth > DEEPEST) return;
  if (typeof value === "string") {
    if (isFile(value)) size.attachments++;
    else size.bytes += byteLength(value);
  } else if (value instanceof Uint8Array) {
    size.attachments++;
  } else if (Array.isArray(value)) {
    for (const item of value) measure(item, size, depth + 1);
  } else if (isRecord(value)) {
    for (const [key, item] of Object.entries(value)) {
      // Keys of a tool's schema are part of what the model reads.
      size.bytes += key.length;
      if (isReference(key, item)) size.references++;
      else measure(item, size, depth + 1);
    }
  } else size.bytes += 1;
}

function isFile(text: string): boolean {
  if (text.startsWith("data:")) return true;
  return text.length >= FILE_FROM_CHARACTERS && BASE64.test(text.slice(0, FILE_FROM_CHARACTERS));
}

function byteLength(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // A surrogate is one half of a character that has four bytes.
    if (code >= 0x80) bytes += code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 1 : 2;
  }
  return bytes;
}
