import type { RunResult } from "palimpsest/agent";
import type { ConfiguredAgent } from "palimpsest/assistant";
import type { Context, Run } from "../command/command.ts";
import { Failure, sentence, UsageError } from "../command/failure.ts";
import { programName } from "../command/program-name.ts";
import { busy, patience, requireThreadId, waitingNote, whose, withHome } from "../home/home.ts";
import { requireModel, type TalkOptions } from "../home/talk.ts";

export const run: Run<TalkOptions> = async ({ positionals, options }, context) => {
  const waitMs = patience(options.wait);
  const prompt = positionals[0]!;
  if (prompt.trim() === "") throw new UsageError("PROMPT is empty: say what the agent should do.");
  const given = options.thread;
  if (given !== undefined) requireThreadId(given);
  await requireModel(context, options.model ?? null);
  return withHome(context, async (home) => {
    const { output, verbose } = context;
    const { agent, memory } = await home.agent({
      model: options.model ?? null,
      window: options.window,
      log: output.note,
      verbose,
    });
    try {
      const stream = agent.stream({
        prompt,
        threadId: given,
        agentName: options.agent,
        signal: context.signal,
        waitMs,
      });
      let shown = "";
      for await (const event of stream) {
        if (event.type === "thread-wait") context.output.note(waitingNote(stream.threadId, event));
        if (event.type === "model-retry") context.output.note(`${event.reason}; trying again in ${event.delayMs} ms`);
        if (event.type !== "text-delta" || context.format === "json") continue;
        shown += event.text;
        await context.output.write(event.text);
      }
      if (shown !== "" && !shown.endsWith("\n")) await context.output.write("\n");
      return await report(await stream.result, { context, asked: given });
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

async function report(
  { threadId: thread, end, text, usage, steps }: RunResult,
  { context, asked }: { readonly context: Context; readonly asked: string | undefined },
): Promise<number> {
  if (end.kind === "busy") throw busy(thread, end.expiresAt, "try again then, or wait longer with --wait SECONDS");
  if (end.kind === "failed") throw new Failure(end.code, sentence(end.message));
  if (end.kind === "aborted") context.signal.throwIfAborted();
  const asks = end.kind === "asked" ? { question: end.question, options: end.options } : {};
  if (context.format === "json") await context.output.json({ thread, text, usage, steps, end: end.kind, ...asks });
  else {
    if (end.kind === "asked")
      await context.output.line([end.question, ...end.options.map((one) => `- ${one}`)].join("\n"));
    if (asked === undefined)
      context.output.note(`Go on with: ${programName()} run PROMPT --thread ${thread}${whose(context)}`);
  }
  if (end.kind !== "step-limit") return 0;
  context.output.note(`Stopped after ${end.limit} steps without an answer: run again on the thread to go on.`);
  return 1;
}
