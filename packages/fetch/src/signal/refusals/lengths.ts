import type { RefusalFamily } from "./rule.ts";

/**
 * Prompts that do not fit. Requests that cannot fit, because the prompt and its answer exceed the context of the
 * model, or a whole limit. Most answers have status 400 and a sentence of the server that runs the model.
 *
 * @see https://docs.claude.com/en/api/errors
 * @see https://openrouter.ai/docs/client-sdks/python/components/apierrortype.md
 * @see https://github.com/sgl-project/sglang/issues/4048
 * @see https://github.com/vllm-project/vllm/issues/12165
 */
export const LENGTHS: RefusalFamily = {
  rules: [
    {
      class: "request_too_large",
      code: /^(request_too_large|request_body_too_large\w*|context_length_exceeded|string_above_max_length|string_too_long|payload_too_large|tokens_limit_reached|max_tokens_exceeded|model_max_prompt_tokens_exceeded|prompt_too_long|(?:tokens|characters)_too_long|exceed_context_size_error)$/,
    },
    // The request, the prompt or the input is too large, or must become shorter.
    {
      class: "request_too_large",
      at: "any-error",
      text: /request (?:is |body )?too large|prompt (?:is )?too long|input is too long|too long to fit into the model|reduce (?:your message size|the length of the messages)|too many tokens: /i,
    },
    // The context of the model: its length, its window, its size.
    {
      class: "request_too_large",
      at: "any-error",
      text: /maximum context length|exceed(?:s|ed)? (?:the |this )?(?:model'?s? )?(?:maximum )?context (?:limit|window|length)|context[_ ]?window[_ ]?exceed(?:ed|s limit)|(?:exceeds the available|configured) context size|(?:greater|longer) than the (?:maximum model|(?:model's )?(?:maximum )?context) length|context length of only \d|context window is [\d.,]+k? tokens.{0,24} requested/i,
    },
    // A number that the tokens exceed, or must not exceed.
    {
      class: "request_too_large",
      at: "any-error",
      text: /token count.{0,30} exceeds the (?:maximum|limit)|number of tokens in the prompt cannot exceed|exceeded model token limit|tokens .{0,24}must be <=? ?\d|must have less than \d+ tokens|range of input length should be|maximum prompt length is \d|model only supports up to \d|exceeds (?:the )?max(?:imum)?(?: allowed)?(?: input)? length|exceeds the max_model_len/i,
    },
    // Gateways in China: "the context is too long", "exceeds the maximum length".
    {
      class: "request_too_large",
      at: "any-error",
      text: /上下文(?:长度)?(?:过长|超出|超过)|(?:超出|超过)[^。]{0,6}(?:上下文|最大)?长度|压缩上下文/,
    },
  ],
};
