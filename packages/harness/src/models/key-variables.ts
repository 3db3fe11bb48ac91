/** The variable that each provider's key is known by. */
export const KEY_VARIABLES: Readonly<Record<string, string | undefined>> = {
  openai: "OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  google: "GOOGLE_GENERATIVE_AI_API_KEY",
};

/** Entries whose `api_key` names a variable that wasn't set when they were read: an error can then name it. */
const unset = new WeakMap<object, string>();

export function noteUnset(entry: object, variable: string): void {
  unset.set(entry, variable);
}

export function unsetVariable(entry: object): string | undefined {
  return unset.get(entry);
}
