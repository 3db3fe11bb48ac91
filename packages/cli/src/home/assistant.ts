/** The configured agent on an open store, for the commands that talk to a model. */
import { type ConfiguredAgent, type ConfiguredAgentOptions, createAgentFromConfig } from "palimpsest/assistant";
import { isLogged } from "palimpsest/config";
import type { Store } from "palimpsest/stores";
import { type SubagentEvent, subagentLogLines } from "palimpsest/subagents";
import { makeHome, personHere } from "palimpsest/trust";
import type { Context } from "../command/command.ts";
import { compactionLog } from "./compaction-log.ts";
import { memoryLog } from "./memory-log.ts";
import { configOf } from "./places.ts";
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
  // Its files are kept there, wherever the threads are.
  makeHome(context.place, personHere());
  const log = compactionLog(config, context);
  const detailed = isLogged(context.verbose ? "debug" : config.log_level, "subagents", "debug");
  const logged = (event: SubagentEvent): readonly string[] => (detailed ? subagentLogLines(event) : []);
  const remember = memoryLog(config, context);
  return createAgentFromConfig({
    home: context.home,
    config,
    store,
    model: model ?? null,
    // Without a file nobody has asked for a conversation that ends at its window.
    compaction: (await configOf(context)) === null ? "always" : "configured",
    onMemory: remember,
    onEvent(event, ...where) {
      if (isCompaction(event)) log(event);
      else if (isSubagent(event)) for (const line of logged(event)) context.output.note(line);
      else if (isMemory(event)) remember(event);
      onEvent?.(event, ...where);
    },
  });
}

type Told = Parameters<NonNullable<ConfiguredAgentOptions["onEvent"]>>[0];
type Logged = Parameters<ReturnType<typeof compactionLog>>[0];

function isCompaction(event: Told): event is Extract<Told, Logged> {
  return /^(?:compaction|summary|draft|breaker)-/.test(event.type);
}

function isSubagent(event: Told): event is SubagentEvent {
  return event.type.startsWith("subagent-");
}

function isMemory(event: Told): event is Extract<Told, Parameters<ReturnType<typeof memoryLog>>[0]> {
  return event.type.startsWith("memory-");
}
