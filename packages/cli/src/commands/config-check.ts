import { existsSync } from "node:fs";
import type { ConfigFinding } from "palimpsest/home";
import { checkConfig } from "palimpsest/internal/config";
import { readConfig } from "palimpsest/internal/home";
import type { Run } from "../command/command.ts";

export const run: Run = async ({ positionals }, context) => {
  const { home, format, output } = context;
  // Looked at, not obeyed: it need not be trusted for that.
  const path = positionals[0] ?? (await context.located.configuration())?.path ?? null;
  const findings = path === null ? [] : findingsOf(path, home);
  const messages = (wanted: ConfigFinding["severity"]) =>
    findings.filter(({ severity }) => severity === wanted).map(({ message }) => message);
  const [problems, warnings] = [messages("problem"), messages("warning")];
  const ok = problems.length === 0;
  const place = (line: number | null): string => `${path}${line === null ? "" : `:${line}`}`;
  for (const { severity, line, message } of findings)
    if (severity === "warning") output.note(`warning: ${place(line)}: ${message}`);
  if (format === "json") await output.json({ ok, path, problems, warnings, findings });
  else if (ok) await output.line(path === null ? "No config.yaml: the defaults are used." : `${path} is fine.`);
  else
    for (const { severity, line, message } of findings)
      if (severity === "problem") await output.line(`${place(line)}: ${message}`);
  return ok ? 0 : 1;
};

function findingsOf(path: string, home: string): readonly ConfigFinding[] {
  const text = readConfig({ path, reason: "option" });
  if (typeof text !== "string") return [{ severity: "problem", line: null, message: text.problem }];
  return checkConfig(text, { env: process.env, home, exists: existsSync });
}
