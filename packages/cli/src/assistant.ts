/** The configured agent on an open store, for the commands that talk to a model. */
import { type ConfiguredAgent, type ConfiguredAgentOptions, createAgentFromConfig } from "palimpsest/agent";
import { findConfig } from "palimpsest/config/find";
import type { Store } from "palimpsest/stores";
import type { Context } from "./command.ts";
import { compactionLog } from "./compaction-log.ts";
import { loadSettings } from "./settings.ts";

export interface AssistantOptions extends Pick<ConfiguredAgentOptions, "onEvent"> {
  readonly model?: string | undefined;
}

export async function openAssistant(
  context: Context,
  store: Store,
  { model, onEvent }: AssistantOptions = {},
): Promise<ConfiguredAgent> {
  const config = await loadSettings(context);
  const log = compactionLog(config, context);
  return createAgentFromConfig({
    ...{ home: context.home, config, store, model: model ?? null },
    // Without a file nobody has asked for a conversation that ends at its window.
    compaction: findConfig(context.home, process.cwd()) === null ? "always" : "configured",
    onEvent(event, thread) {
      if (isCompaction(event)) log(event);
      onEvent?.(event, thread);
    },
  });
}

type Told = Parameters<NonNullable<ConfiguredAgentOptions["onEvent"]>>[0];
type Logged = Parameters<ReturnType<typeof compactionLog>>[0];

function isCompaction(event: Told): event is Extract<Told, Logged> {
  return /^(?:compaction|summary|draft|breaker)-/.test(event.type);
}
