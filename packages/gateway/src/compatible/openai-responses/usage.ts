/** What a response took, as the Responses API says it. */
interface Took {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly reasoning?: number;
}

export function responsesUsage({ input, output, cached, reasoning = 0 }: Took) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
