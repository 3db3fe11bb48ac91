/**
 * Input windows of well-known models by their ids, from their makers' model pages. Where input and output share one
 * context, it is the whole of it. A server may run a model with less: `max_input_tokens` in the configuration says so.
 */

/** The input window in tokens, or null for a model we don't know. Prefixes of routers and tags don't matter. */
export function knownWindow(model: string): number | null {
  const bare = model.toLowerCase().split("/").at(-1)!.replace(/:.*$/s, "");
  // Bedrock and others write `anthropic.claude-...`, `us.meta.llama3-...`, also `meta-llama-3.1`.
  const id = bare.replace(/^(?:[a-z]+\.)+(?=[a-z])/, "").replace(/^meta-(?=llama)/, "");
  return WINDOWS.find(([pattern]) => pattern.test(id))?.[1] ?? null;
}

const K = 1024;

/** The first match counts, so the special stands before the general. */
const WINDOWS: readonly (readonly [RegExp, number])[] = [
  // OpenAI
  [/^gpt-3\.5/, 16_385],
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-4-32k/, 32 * K],
  [/^(?:gpt-4o|chatgpt-4o|gpt-4\.5|gpt-4-turbo|gpt-4-\d{4}-preview)/, 128_000],
  [/^gpt-4(?:$|-)/, 8 * K],
  [/^gpt-5.*-chat/, 128_000],
  // 400k in all, of which 128k are for the answer.
  [/^gpt-5/, 272_000],
  [/^gpt-oss/, 128 * K],
  [/^o1-(?:mini|preview)/, 128_000],
  [/^(?:o[134]|codex)(?:$|-)/, 200_000],
  // Anthropic
  [/^claude-(?:2(?:$|\.0)|instant)/, 100_000],
  [/^claude/, 200_000],
  // Google
  [/^gemini-1\.5-pro/, 2 * K * K],
  [/^gemini-(?:1\.0|pro)/, 32 * K],
  [/^gemini/, K * K],
  [/^gemma-?3-?1b/, 32 * K],
  [/^gemma-?3/, 128 * K],
  [/^gemma/, 8 * K],
  // Meta
  [/^llama-?2/, 4 * K],
  [/^llama-?3(?:\.|-)[123]/, 128 * K],
  [/^llama-?3/, 8 * K],
  [/^llama-?4/, K * K],
  // Qwen
  [/^qwen-?3-coder/, 256 * K],
  [/^qwen/, 32 * K],
  // Mistral
  [/^(?:mistral-(?:large|medium|nemo)|ministral|magistral|devstral|pixtral)/, 128_000],
  [/^(?:mixtral-8x22b|open-mixtral-8x22b)/, 64 * K],
  [/^(?:mistral|mixtral|open-mi|codestral)/, 32 * K],
  // Others
  [/^deepseek/, 64 * K],
  [/^grok-[23]/, 128 * K],
  [/^grok/, 256_000],
  [/^command-(?:r|a)/, 128_000],
  [/^phi-?4/, 16 * K],
  [/^(?:kimi|moonshot|glm-4\.[5-9])/, 128_000],
];
