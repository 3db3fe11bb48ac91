/**
 * What is left behind when a part is pruned: what it was (path or command, exit code), its failing lines, the names
 * nothing else in the prompt holds, and how to get it back.
 */
import type { ImagePart, ResultPart } from "../message/shape.ts";
import { mediaName, type Originals, whereMedia, whereMessage } from "../summary/render-lines.ts";
import { countNames, exitCode, failingLines } from "../text/names.ts";
import { describeUse, PRUNED, type PruneCandidate, REASONS } from "./prune-candidates.ts";

interface ReplacementOptions {
  /** Names the rest of the prompt still holds. Those a replacement repeats are added. */
  readonly held: Set<string>;
  readonly count: (text: string) => number;
  /** Names may cost this share of the part they stand for. */
  readonly nameShare: number;
  readonly originals: Originals;
}

const MAX_FAILING_LINES = 8;

export function replacementFor(candidate: PruneCandidate, options: ReplacementOptions): string {
  const { original } = candidate;
  switch (original.kind) {
    case "result":
      return forResult(candidate, original, options);
    case "image":
      return forImage(candidate, original, options);
  }
}

function forResult(candidate: PruneCandidate, part: ResultPart, options: ReplacementOptions): string {
  const { use, tool, reason, target } = candidate;
  const code = use.kind === "command" ? exitCode(part.text) : null;
  const facts = [describeUse(tool, use), REASONS[reason].words, sizeOf(part.text)];
  if (code !== null) facts.push(`exit code ${code}`);
  facts.push(...part.images.map(mediaName));
  const lines = [`${PRUNED}: ${facts.join(", ")}${wayBack(target, options)}]`];
  // A source file full of the word "error" hasn't failed.
  if (use.kind !== "read" || part.isError) lines.push(...failingLines(part.text, MAX_FAILING_LINES));
  hold(lines.join("\n"), options.held);
  const names = rareNames(part.text, candidate.tokens, options);
  if (names.length > 0) lines.push(`names: ${names.join(" ")}`);
  return lines.join("\n");
}

function forImage(candidate: PruneCandidate, part: ImagePart, options: ReplacementOptions): string {
  const where = whereMedia(options.originals);
  return `${PRUNED}: old ${mediaName(part)} of message ${candidate.target}${where === "" ? "" : `; ${where} has it`}]`;
}

/** The most used names first, as many as their share of the part allows. */
function rareNames(text: string, tokens: number, options: ReplacementOptions): readonly string[] {
  const budget = tokens * options.nameShare;
  const names: string[] = [];
  let spent = 0;
  const byUse = [...countNames(text)].sort(([, a], [, b]) => b - a);
  for (const [name] of byUse) {
    if (options.held.has(name)) continue;
    spent += options.count(` ${name}`);
    if (spent > budget) break;
    names.push(name);
    options.held.add(name);
  }
  return names;
}

function hold(text: string, held: Set<string>): void {
  for (const name of countNames(text).keys()) held.add(name);
}

function wayBack(seq: number, { originals }: ReplacementOptions): string {
  const where = whereMessage(seq, originals);
  return where === "" ? "" : `; ${where} has it`;
}

function sizeOf(text: string): string {
  const lines = text.split("\n").length;
  return lines > 1 ? `${lines} lines` : `${text.length} characters`;
}
