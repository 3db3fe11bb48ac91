import type { RunResult } from "palimpsest/agent";
import type { ConfiguredAgent } from "palimpsest/assistant";
import type { Context, Run } from "../command/command.ts";
import { Failure, sentence, UsageError } from "../command/failure.ts";
import { programName } from "../command/program-name.ts";
import { compactionProgress } from "../home/compaction-progress.ts";
import { busy, patience, waitingNote, whose, withHome } from "../home/home.ts";
import { readStdin } from "../home/stdin.ts";
import { checkTalk, chosenThread, chosenWorkspace, requireModel, type TalkOptions } from "../home/talk.ts";
import { duration } from "../terminal/duration.ts";

export const run: Run<TalkOptions> = async ({ positionals, options }, context) => {
  const waitMs = patience(options.wait);
  checkTalk(options);
  await requireModel(context, options.model ?? null);
  const prompt = await promptOf(positionals, context);
  const workspace = await chosenWorkspace(options, context);
  return withHome(context, async (home) => {
    const { output, verbose } = context;
    const chosen = await chosenThread(options, home.store);
    const model = options.model ?? null;
    const { agent, memory } = await home.agent({
      model,
      window: options.window,
      workspace,
      log: output.note,
      verbose,
    });
    try {
      const stream = agent.stream({
        prompt,
        threadId: chosen,
        agentName: options.agent,
        signal: context.signal,
        waitMs,
      });
      const progress = compactionProgress(context);
      let shown = "";
      for await (const event of stream) {
        if (event.type === "compaction-start" || event.type === "summary-progress") progress(event);
        if (event.type === "thread-wait") context.output.note(waitingNote(stream.threadId, event));
        if (event.type === "model-retry")
          context.output.note(`${event.reason}; trying again in ${duration(event.delayMs)}`);
        if (event.type !== "text-delta" || context.format === "json") continue;
        shown += event.text;
        await context.output.write(event.text);
      }
      if (shown !== "" && !shown.endsWith("\n")) await context.output.write("\n");
      return await report(await stream.result, { context, asked: chosen, model });
    } finally {
      if (!context.signal.aborted) await learn(memory, context);
    }
  });
};

/** How long the program stays to learn from the turn; what is left is learned by the next one. */
const LEARNING_MS = 10_000;

/** The turn stands, whatever becomes of learning from it. */
async function learn(memory: ConfiguredAgent["memory"], { output }: Context): Promise<void> {
  try {
    await memory?.close(LEARNING_MS);
  } catch (error) {
    const why = sentence(error instanceof Error ? error.message : String(error));
    output.note(`warning: nothing could be learned from this now; it is kept for later: ${why}`);
  }
}

/** PROMPT, what comes through a pipe, or with "-" behind it both. */
async function promptOf([given, rest]: readonly string[], { signal }: Context): Promise<string> {
  if (rest !== undefined && rest !== "-")
    throw new UsageError(`"${rest}" is one argument too many; put words that belong together in quotes.`);
  const isPiped = given === "-" || rest === "-" || (given === undefined && process.stdin.isTTY !== true);
  const argument = given === "-" ? "" : (given ?? "");
  const prompt = [argument, ...(isPiped ? [(await readStdin(signal)).toString("utf8")] : [])]
    .filter((text) => text.trim() !== "")
    .join("\n\n");
  if (prompt === "") throw new UsageError("PROMPT is empty: say what the agent should do, or pipe it in.");
  return prompt;
}

interface Told {
  readonly context: Context;
  readonly asked: string | undefined;
  readonly model: string | null;
}

async function report(result: RunResult, { context, asked, model }: Told): Promise<number> {
  const { threadId: thread, end } = result;
  if (end.kind === "busy") throw busy(thread, end.expiresAt, "try again then, or wait longer with --wait SECONDS");
  if (end.kind === "failed") throw new Failure(end.code, sentence(end.message));
  if (end.kind === "aborted") context.signal.throwIfAborted();
  if (context.format === "json") {
    const { runDocument } = await import("palimpsest/internal/documents");
    await context.output.json(runDocument(result, { config: await context.located.settings(), model }));
  } else {
    if (end.kind === "asked")
      await context.output.line([end.question, ...end.options.map((one) => `- ${one}`)].join("\n"));
    if (asked === undefined)
      context.output.note(`Go on with: ${programName()} run PROMPT --thread ${thread}${whose(context)}`);
  }
  if (end.kind !== "step-limit") return 0;
  context.output.note(`Stopped after ${end.limit} steps without an answer: run again on the thread to go on.`);
  return 1;
}
