/** What the configuration says, for the doctor: whether it can work, the windows, whether conversations are compacted. */
import { existsSync } from "node:fs";
import { summarizationForThreads } from "../compaction/summarization.ts";
import { limitsOfHome } from "../models/learned-limits.ts";
import { offeredModels } from "../models/offers.ts";
import { windowNow } from "../models/window.ts";
import { checkConfig } from "./check.ts";
import type { Check, DoctorOptions } from "./doctor.ts";
import { smallText } from "./find.ts";
import type { LoadedConfig } from "./load.ts";
import type { ConfigFile } from "./schema.ts";

export function configChecks(loaded: LoadedConfig, options: DoctorOptions): readonly Check[] {
  const { reasons, env, home } = options;
  const why = reasons === undefined ? "" : ` (${reasons.config})`;
  const where = loaded.path === null ? "no config.yaml, the defaults" : `${loaded.path}${why}`;
  if (loaded.kind === "invalid")
    return [{ name: "config", ok: false, detail: `${where}: ${loaded.problems.join("; ")}` }];
  const findings = loaded.path === null ? [] : checkConfig(smallText(loaded.path), { env, home, exists: existsSync });
  const lines = findings.map(({ line, message }) => (line === null ? message : `line ${line}: ${message}`));
  const ok = findings.every(({ severity }) => severity === "warning");
  return [
    { name: "config", ok, detail: [where, ...lines].join("; ") },
    ...modelChecks(loaded.config, options),
    { name: "compaction", ok: true, detail: compactionOf(loaded.config) },
  ];
}

function modelChecks({ models, summarization }: ConfigFile, { home, env }: DoctorOptions): readonly Check[] {
  const learned = { limits: limitsOfHome(home).read(), now: Date.now() };
  const windows = models.map((model) => {
    const { tokens, source } = windowNow(model, summarization.fallback_context_window, learned);
    return `${model.name}: ${tokens} tokens ${WINDOW_SOURCES[source]}`;
  });
  if (windows.length > 0) return [{ name: "windows", ok: true, detail: windows.join("; ") }];
  const keys = offeredModels(env).map(({ from, variable }) => `${from} ($${variable})`);
  const offer = keys.length === 0 ? "" : `; keys are here for ${keys.join(", ")}`;
  const detail = `none configured, the offline model answers${offer}: "palimpsest config init" configures one`;
  return [{ name: "models", ok: true, detail }];
}

const WINDOW_SOURCES = {
  config: "(max_input_tokens)",
  table: "(known for this model)",
  fallback: "(fallback_context_window; set max_input_tokens)",
  learned: '(stated by the provider when it refused more; "palimpsest models forget" forgets it)',
};

function compactionOf({ summarization }: ConfigFile): string {
  if (!summarization.enabled)
    return 'off: a conversation grows until its window is full (summarization.enabled); "palimpsest compact T" does it once';
  try {
    const { trigger } = summarizationForThreads(summarization).policy;
    const at = trigger.map(({ type, value }) =>
      type === "fraction" ? `${Math.round(value * 100)} % of the window` : `${value} ${type}`,
    );
    return `automatic, at ${at.join(" or ")}`;
  } catch {
    // Said as a problem of the file.
    return "automatic";
  }
}
