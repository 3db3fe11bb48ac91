/** `lab --mine`: the lab on the sessions that programs have left on this machine, or on those in folders that are named. */
import { writeFileSync } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join, relative } from "node:path";
import { redactSecrets } from "@palimpsest/core/memory";
import { builtInPolicies } from "@palimpsest/lab";
import { type OwnReport, ownPage, ownTotals, playOwnSessions } from "@palimpsest/lab/internal/replay";
import { FORMATS } from "palimpsest/internal/import";
import type { Context } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { money } from "../home/money.ts";
import { counted } from "../terminal/counted.ts";
import { table } from "../terminal/table.ts";
import { throttled } from "../terminal/throttled.ts";

export interface MineOptions {
  readonly window: number;
  readonly hits: number;
  readonly html?: string | undefined;
  readonly mask: boolean;
  readonly about: { readonly date: Date; readonly command: string; readonly versions: string };
}

export async function playMine(places: readonly string[], options: MineOptions, context: Context): Promise<number> {
  const { output, signal } = context;
  const files = (await Promise.all(await folders(places))).flat();
  if (files.length === 0) throw new Failure("no-transcript", "No session was found: name a folder or a file.");
  const tell = throttled(output, (line: string) => line);
  const played = await playOwnSessions(files, {
    policies: builtInPolicies(options.window).filter(({ name }) => PLAYED.test(name)),
    hits: options.hits,
    signal,
    onProgress: (done, file) => tell(`${Math.round(done * 100)} % ${basename(file)}`),
  });
  const report = options.mask ? masked(played) : played;
  for (const problem of report.problems.slice(0, SHOWN)) output.note(problem);
  if (options.html !== undefined) {
    writeFileSync(options.html, ownPage(report, options.about), { mode: 0o600 });
    output.note(`The page is in ${options.html}.`);
  }
  const totals = ownTotals(report.sessions);
  if (context.format === "json") await output.json({ ...report, totals });
  else for (const line of linesOf(report, totals)) await output.line(line);
  return 0;
}

/** Ours, nothing at all, and those of others that people really use with such programs. */
const PLAYED = /^(?:ours|none|summarize at|DeepAgents|opencode)/;
const SHOWN = 20;

async function folders(places: readonly string[]) {
  const known = FORMATS.flatMap(({ folder }) => folder?.(process.env, homedir()) ?? []);
  return (places.length > 0 ? places : known).map(async (place) => {
    const found = await stat(place).catch(() => null);
    if (found === null && places.length > 0) throw new Failure("unreadable", `${place} does not exist.`);
    if (found?.isFile() === true) return [{ path: place, name: basename(place) }];
    if (found?.isDirectory() !== true) return [];
    const folder = await realpath(place);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && /\.jsonl?$/i.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => ({ path, name: relative(folder, path) }));
  });
}

/** Titles are made of what people said. */
function masked({ sessions, problems }: OwnReport): OwnReport {
  const clean = (text: string): string => redactSecrets(text).text;
  return { sessions: sessions.map((one) => ({ ...one, name: clean(one.name) })), problems: problems.map(clean) };
}

function linesOf({ sessions }: OwnReport, totals: ReturnType<typeof ownTotals>): string[] {
  const paid =
    totals.sessions === 0
      ? `, none with a known price. "palimpsest lab FILE" compares policies without one`
      : `; ${totals.sessions} with a known price cost ${money(totals.spent)}`;
  const rows = totals.policies.map(({ name, sessions: played, cost, used, lost }) => {
    const figures = [played, money(cost), used, lost].map(String);
    return [name, ...figures];
  });
  const head = ["policy", "sessions", "would have cost", "used again", "lost"];
  return [`${counted(sessions.length, "session")}${paid}.`, ...(rows.length === 0 ? [] : [table(head, rows)])];
}
