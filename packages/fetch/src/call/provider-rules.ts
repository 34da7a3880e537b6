/** How a provider counts tokens against its limits. docs/provider-signals.md explains the rules. */
export interface ProviderRules {
  /**
   * How much of a request's `max_tokens` the provider counts when the request arrives. "reserved": all of it, on top
   * of the input. "at-least": the larger of `max_tokens` and the expected usage. "expected": none; only produced
   * tokens count. "learned": all of it until a few answers have shown their length. "none": output is not limited.
   */
  readonly output: "reserved" | "at-least" | "expected" | "learned" | "none";
  /** Whether input that came from the prompt cache counts. */
  readonly countsCachedInput: boolean;
  /**
   * Bedrock's burndown rate: the number of tokens that one token of output counts at these models. At others it
   * counts once.
   */
  readonly burndown?: { readonly models: RegExp; readonly rate: number };
  /** The documented window of limits whose answer names no window. */
  readonly windowMs?: { readonly requests?: number; readonly tokens?: number };
}

const MINUTE_MS = 60_000;
const PER_MINUTE = { requests: MINUTE_MS, tokens: MINUTE_MS };

const RULES: Readonly<Record<string, ProviderRules>> = {
  openai: { output: "at-least", countsCachedInput: true, windowMs: { tokens: MINUTE_MS } },
  azure: { output: "reserved", countsCachedInput: true, windowMs: { tokens: MINUTE_MS } },
  anthropic: { output: "expected", countsCachedInput: false, windowMs: PER_MINUTE },
  gemini: { output: "none", countsCachedInput: true },
  vertex: { output: "none", countsCachedInput: true },
  bedrock: {
    output: "reserved",
    countsCachedInput: false,
    // Anthropic's models from Claude 3.7 on.
    burndown: { models: /claude-(?:3[-.]7|[a-z]+-\d)/, rate: 5 },
  },
  groq: { output: "reserved", countsCachedInput: false, windowMs: { tokens: MINUTE_MS } },
  mistral: { output: "expected", countsCachedInput: true },
  openrouter: { output: "expected", countsCachedInput: true },
};
/** The rules for hosts that are not in the table. */
const CAREFUL: ProviderRules = { output: "learned", countsCachedInput: true };

/** `protocol` tells apart the models that one host serves by different rules: Vertex AI has Google's and Anthropic's. */
export function rulesOf(provider: string, protocol?: string): ProviderRules {
  const name = provider === "vertex" && protocol === "anthropic" ? protocol : provider;
  return (Object.hasOwn(RULES, name) ? RULES[name] : undefined) ?? CAREFUL;
}

/** Returns the number of tokens that one token of this model's output counts. */
export function outputRate({ burndown }: ProviderRules, model: string | undefined): number {
  return burndown?.models.test(model ?? "") ? burndown.rate : 1;
}

/** Whether the provider is one whose rules are known; all of them limit models. */
export function isKnownProvider(provider: string): boolean {
  return Object.hasOwn(RULES, provider);
}

const HOSTS: readonly (readonly [RegExp, string])[] = [
  [/(^|\.)openai\.azure\.com$|\.cognitiveservices\.azure\.com$|\.services\.ai\.azure\.com$/, "azure"],
  [/(^|\.)openai\.com$/, "openai"],
  [/(^|\.)anthropic\.com$/, "anthropic"],
  [/^generativelanguage\.googleapis\.com$/, "gemini"],
  [/aiplatform\.googleapis\.com$/, "vertex"],
  [/^bedrock-runtime\..*amazonaws\.com$/, "bedrock"],
  [/(^|\.)groq\.com$/, "groq"],
  [/(^|\.)mistral\.ai$/, "mistral"],
  [/(^|\.)cohere\.(com|ai)$/, "cohere"],
  [/(^|\.)openrouter\.ai$/, "openrouter"],
];

/** The provider that owns a host. An unknown host is a provider of its own. */
export function providerOfHost(host: string): string {
  const hostname = host.replace(/:\d+$/, "");
  return HOSTS.find(([pattern]) => pattern.test(hostname))?.[1] ?? host;
}
