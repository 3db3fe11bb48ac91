/**
 * Keeps long tool results out of the prompt. The log keeps the result whole; the prompt shows its short form and a
 * pointer to a file that `read_file` can follow. Only results the model hasn't seen yet are touched, so what the
 * provider has cached stays as it is. It reads the log, so a run that was killed in between is made good by the next,
 * and a file that was deleted is made again when a call names it.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AiSdkMessage, aiSdkShape, type ResultPart } from "@palimpsest/core/message";
import { type CountText, charsPerToken } from "@palimpsest/core/tokens";
import type { Middleware } from "../agent/middleware.ts";
import type { Run } from "../agent/run.ts";
import { readQuotes } from "../compaction/summary-job.ts";
import { readBody } from "../thread/conversation.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { restoreOutput, storedNames, storeOutput } from "./stored-output.ts";

export interface ToolOutputOptions {
  readonly workspace: (run: Run) => Workspace;
  /** A longer result goes to a file. */
  readonly maxTokens?: number;
  readonly perTool?: Readonly<Record<string, number>>;
  /** Tools whose results stay as they are; null: those that say that they bound their own. */
  readonly exempt?: readonly string[] | null;
  readonly count?: CountText;
}

export function toolOutput(options: ToolOutputOptions): Middleware {
  return {
    name: "tool-output",
    async beforeModel(run) {
      const long = unseenResults(run).filter((result) => !isExempt(result, run, options) && isLong(result, options));
      if (long.length === 0) return;
      const count = options.count ?? charsPerToken(4);
      const entries = await Promise.all(long.map((result) => entryFor(run, result, options)));
      await run.commit([
        {
          kind: "prune",
          entries,
          tokensBefore: sum(long.map(({ result }) => count(result.text))),
          tokensAfter: sum(entries.map(({ replacement }) => count(replacement))),
        },
      ]);
    },
    async wrapTool(call, next, run) {
      const workspace = options.workspace(run);
      const { directory } = workspace.roots["tool-outputs"];
      const named = storedNames(JSON.stringify(call.input) ?? "");
      // The tool that finds no file says so better than we could.
      for (const name of named)
        if (!existsSync(join(directory, name))) await restore(name, run, workspace).catch(() => {});
      return next(call);
    },
  };
}

/** The prune that put the file in the result's place says which result it was. */
async function restore(name: string, { deps, threadId }: Run, workspace: Workspace): Promise<void> {
  for await (const { record } of deps.store.records(threadId, { kinds: ["prune"], order: "descending" })) {
    const entry = record.kind === "prune" && record.entries.find(({ replacement }) => replacement.includes(name));
    if (!entry) continue;
    const [message] = await readQuotes(deps.store, threadId)([entry.target]);
    const part = message && aiSdkShape.parts(readBody(message, aiSdkShape))[entry.part];
    if (part?.kind === "result" && (await restoreOutput(workspace, name, part.text))) return;
  }
}

interface Unseen {
  readonly target: number;
  readonly part: number;
  readonly tool: string;
  readonly result: ResultPart;
}

/** The results that stand after the model's last answer. */
function unseenResults({ conversation }: Run): Unseen[] {
  const view = conversation.view();
  const pruned = new Set(
    conversation.live().prunes.flatMap(({ entries }) => entries.map(({ target, part }) => `${target}.${part}`)),
  );
  const last = view.findLastIndex(({ message }) => aiSdkShape.role(message) === "assistant");
  return view
    .slice(last + 1)
    .flatMap(({ seq, message }) => (seq === null ? [] : resultsOf(seq, message)))
    .filter(({ target, part }) => !pruned.has(`${target}.${part}`));
}

function resultsOf(target: number, message: AiSdkMessage): Unseen[] {
  return aiSdkShape
    .parts(message)
    .flatMap((result, part) =>
      result.kind === "result" ? [{ target, part, tool: result.name ?? "a tool", result }] : [],
    );
}

function isExempt({ tool, result: { images } }: Unseen, { deps }: Run, { exempt = null }: ToolOutputOptions): boolean {
  // A result that carries an image is replaced whole, and the image would go with it.
  if (images.length > 0) return true;
  return exempt === null ? deps.tools?.(tool)?.output === "bounded" : exempt.includes(tool);
}

function isLong({ tool, result: { text } }: Unseen, options: ToolOutputOptions): boolean {
  const { maxTokens = 4000, perTool = {}, count = charsPerToken(4) } = options;
  const limit = Object.hasOwn(perTool, tool) ? perTool[tool]! : maxTokens;
  // No text has more tokens than bytes, and none of this length has so few; only what lies between is counted.
  if (text.length * 4 <= limit) return false;
  return text.length > limit * 16 || count(text) > limit;
}

async function entryFor(run: Run, { target, part, tool, result }: Unseen, options: ToolOutputOptions) {
  const { maxTokens = 4000, perTool = {} } = options;
  const limit = Object.hasOwn(perTool, tool) ? perTool[tool]! : maxTokens;
  const output = { tool, text: result.text, seq: target };
  const maxChars = Math.max(600, Math.min(6000, limit * 2));
  const replacement = await storeOutput(options.workspace(run), output, maxChars);
  return { target, part, replacement, reason: "clamped" as const };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
