/** The variable that each provider's key is known by. */
export const KEY_VARIABLES: Readonly<Record<string, string | undefined>> = {
  openai: "OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  google: "GOOGLE_GENERATIVE_AI_API_KEY",
};
