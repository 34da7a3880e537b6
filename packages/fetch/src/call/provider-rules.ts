/** How a provider counts tokens against its limits. Sources stand in docs/provider-signals.md. */
export interface ProviderRules {
  /**
   * What a request's allowance for its answer counts at the door. "reserved": all of it, on top of the input. "at-least":
   * the larger of it and what is expected. "expected": nothing, only what is really produced. "learned": all of it
   * until a few answers have shown how long they are. "none": output is not limited.
   */
  readonly output: "reserved" | "at-least" | "expected" | "learned" | "none";
  /** Whether input that came from the prompt cache counts. */
  readonly countsCachedInput: boolean;
  /** How often a token of output counts at these models: Bedrock's burndown rate. All others count once. */
  readonly burndown?: { readonly models: RegExp; readonly rate: number };
  /** What a number without another window refers to, where the documentation says so. */
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
/** Of hosts that nobody has described. */
const CAREFUL: ProviderRules = { output: "learned", countsCachedInput: true };

/** `protocol` tells apart the models that one host serves by different rules: Vertex AI has Google's and Anthropic's. */
export function rulesOf(provider: string, protocol?: string): ProviderRules {
  const name = provider === "vertex" && protocol === "anthropic" ? protocol : provider;
  return (Object.hasOwn(RULES, name) ? RULES[name] : undefined) ?? CAREFUL;
}

/** How often a token of this model's output counts. */
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

/** Whose host this is; a host that nobody knows is its own provider. */
export function providerOfHost(host: string): string {
  const hostname = host.replace(/:\d+$/, "");
  return HOSTS.find(([pattern]) => pattern.test(hostname))?.[1] ?? host;
}
