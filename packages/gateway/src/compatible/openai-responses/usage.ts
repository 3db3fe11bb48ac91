/** What a response took, as the Responses API says it. */
interface Took {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

export function responsesUsage({ input, output, cached }: Took) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}
