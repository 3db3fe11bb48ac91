/** A gateway before a strict provider, for the tests of the compatible endpoints. */
import type { TestContext } from "node:test";
import { type ProviderServer, type ProviderServerOptions, startProviderServer } from "@palimpsest/testing";
import { type Running, type RunningOptions, running } from "./running.ts";

export interface BeforeProvider extends Running {
  readonly provider: ProviderServer;
}

export interface BeforeProviderOptions extends ProviderServerOptions {
  /** What the gateway takes for the window; the provider's own unless told. */
  readonly stated?: number;
  /** More of `config.yaml`. */
  readonly config?: string;
  readonly running?: Omit<RunningOptions, "config">;
}

export async function beforeProvider(t: TestContext, options: BeforeProviderOptions = {}): Promise<BeforeProvider> {
  const { stated, config = "", running: more = {}, ...given } = options;
  const provider = await startProviderServer(given);
  t.after(() => provider.close());
  const window = stated ?? given.window ?? 16_000;
  return { ...(await running(t, { ...more, config: `${modelsFor(provider, window)}${config}` })), provider };
}

/** One entry for each protocol. */
export function modelsFor({ url }: ProviderServer, window: number): string {
  const entry = (name: string, provider: string, more = "") =>
    `  - {name: ${name}, provider: ${provider}, model: m-${name}, base_url: "${url}", api_key: k, max_input_tokens: ${window}${more}}\n`;
  const bound = entry("bound", "anthropic", ", binds_reasoning: true");
  return `config_version: 1\nmodels:\n${entry("gpt", "openai")}${entry("claude", "anthropic")}${entry("local", "openai-compatible")}${bound}`;
}
