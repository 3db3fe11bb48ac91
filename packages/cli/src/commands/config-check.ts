import { loadConfig, parseConfig, SettingsError, summarizationFromFile } from "palimpsest/config";
import type { Run } from "../command/command.ts";

export const run: Run = async ({ positionals }, context) => {
  const { home, format, output } = context;
  // Looked at, not obeyed: it need not be trusted for that.
  const file = positionals[0] ?? (await context.located.configuration())?.path;
  const { env } = process;
  const loaded =
    file === undefined
      ? { ...parseConfig("", { env }), path: null }
      : loadConfig({ home, cwd: process.cwd(), env, file });
  const problems = loaded.kind === "invalid" ? loaded.problems : clashes(loaded.config);
  const warnings = loaded.kind === "invalid" ? [] : loaded.warnings;
  const ok = problems.length === 0;
  const where = loaded.path ?? "no config.yaml";
  for (const warning of warnings) output.note(`warning: ${where}: ${warning}`);
  if (format === "json") await output.json({ ok, path: loaded.path, problems, warnings });
  else if (ok) await output.line(loaded.path === null ? "No config.yaml: the defaults are used." : `${where} is fine.`);
  else for (const problem of problems) await output.line(`${where}: ${problem}`);
  return ok ? 0 : 1;
};

/** Values that are allowed one by one and can't be meant together. */
function clashes({ summarization }: { readonly summarization: Parameters<typeof summarizationFromFile>[0] }) {
  try {
    summarizationFromFile(summarization);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems.map((problem) => `summarization: ${problem}`);
    throw error;
  }
}
