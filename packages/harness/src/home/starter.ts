/** The small file that `config init` writes: one model, everything else by default. Pure. */
import { KEY_VARIABLES } from "../models/key-variables.ts";
import { yaml } from "../yaml.ts";
import { CONFIG_VERSION, type ConfigFile } from "./schema.ts";

export interface StarterAnswers {
  readonly provider: ConfigFile["models"][number]["provider"];
  readonly model: string;
  /** A variable's name: the key itself is never written to a file. */
  readonly keyVariable: string | null;
  readonly baseUrl: string | null;
  /** Null: known for the model, or the fallback. */
  readonly window: number | null;
}

export function starterConfig({ provider, model, keyVariable, baseUrl, window }: StarterAnswers): string {
  const entry = {
    name: "main",
    provider,
    model,
    ...(baseUrl !== null && { base_url: baseUrl }),
    ...(keyVariable !== null && { api_key: `$${keyVariable}` }),
    ...(window !== null && { max_input_tokens: window }),
  };
  const head = `# Written by "palimpsest config init". "palimpsest config schema" knows every key; what is left out has its default.\n`;
  return head + yaml().stringify({ config_version: CONFIG_VERSION, models: [entry] });
}

/** What can't be used, in a sentence that says what would be; null where all is well. */
export function answerProblem({ model, keyVariable, baseUrl, provider }: StarterAnswers): string | null {
  if (model.trim() === "") return "the model is empty: give the provider's id for it, such as gpt-5-mini";
  if (keyVariable !== null && !/^[A-Za-z_]\w*$/.test(keyVariable))
    return `the key is named by a variable of the environment, such as ${KEY_VARIABLES[provider] ?? "MY_API_KEY"}; a key itself is not written to a file`;
  if (provider === "openai-compatible" && baseUrl === null)
    return "openai-compatible needs an address, such as http://127.0.0.1:11434/v1";
  if (baseUrl !== null && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? ""))
    return "the address is no URL: for example http://127.0.0.1:11434/v1";
  return null;
}
