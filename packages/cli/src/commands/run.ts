import { randomUUID } from "node:crypto";
import { errorText } from "@palimpsest/core/internal/text";
import type { AgentEvent, RunEnd, RunResult } from "palimpsest";
import type { ConfiguredAgent, ThreadCost } from "palimpsest/home";
import type { Home } from "palimpsest/internal/home";
import { addUsage } from "palimpsest/internal/models";
import type { CommandRun, Context, Remote, RemoteContext } from "../command/command.ts";
import { Failure, sentence, UsageError } from "../command/failure.ts";
import { eventData, threadPath } from "../command/server.ts";
import { busy, patience, remoteActs, waitingNote, whose, withHome } from "../home/home.ts";
import { everyThread } from "../home/list-threads.ts";
import {
  askedText,
  checkTalk,
  chosenThread,
  chosenWorkspace,
  compactionProgress,
  programName,
  promptOf,
  requireModel,
  ruleNews,
  type TalkOptions,
  unfinishedNote,
  verdictOf,
} from "../home/talk.ts";
import { ask, canAsk, duration, grouped } from "../terminal/output.ts";

const runHere: CommandRun<TalkOptions> = async ({ positionals, options }, context) => {
  const waitMs = patience(options.wait);
  checkTalk(options);
  await requireModel(context, options.model ?? null);
  const prompt = await promptOf(positionals, context);
  const workspace = await chosenWorkspace(options, context);
  return withHome(context, async (home) => {
    const { output, verbose } = context;
    const chosen = await chosenThread(options, home.store);
    const model = options.model ?? null;
    const approved = new Set<string>();
    const { agent, memory } = await home.agent({
      model,
      approved,
      window: options.window,
      workspace,
      log: output.note,
      verbose,
    });
    try {
      const before = chosen === undefined ? null : await costSoFar(home, chosen, context);
      if (chosen !== undefined) await noteLong(home, chosen, context);
      const talk: Talk = { agent, approved, context };
      const fixed = { agentName: options.agent, signal: context.signal, waitMs };
      let result = await answer(talk, { ...fixed, prompt, threadId: chosen });
      while (result.end.kind === "approval" && canAsk(context.format)) {
        await decide(talk, result.threadId);
        result = joined(result, await answer(talk, { ...fixed, threadId: result.threadId }));
      }
      const { end, threadId: thread } = result;
      const command = (act: string, id: string) => `${programName()} rules ${act} ${thread} ${id}`;
      const news =
        end.kind === "busy" || end.kind === "aborted"
          ? []
          : await ruleNews(home, { thread, text: prompt, signal: context.signal, command });
      for (const line of news) output.note(line);
      // The figures hold what is learned from the turn as well.
      if (context.format === "json" && result.end.kind !== "aborted") await learn(home, memory, context);
      const after = await costSoFar(home, result.threadId, context);
      return await reportRun(result, { context, asked: chosen, model, before, after });
    } finally {
      if (!context.signal.aborted) await learn(home, memory, context);
    }
  });
};

/** A long thread that was never compacted, such as an imported one, is read whole before anything else can be told. */
async function noteLong({ store }: Home, threadId: string, { output }: Context): Promise<void> {
  const head = process.stderr.isTTY === true ? await store.head(threadId) : undefined;
  if (head !== undefined && head.compaction === null && head.messages > LONG)
    output.progress(`reading ${grouped(head.messages)} messages ...`);
}

const LONG = 2000;

/** Null where no figure is wanted or known. */
async function costSoFar(home: Home, threadId: string, { format }: Context): Promise<ThreadCost | null> {
  return format === "text" || (await home.configuration()) === null ? null : home.cost(threadId);
}

interface Talk {
  readonly agent: ConfiguredAgent["agent"];
  /** Tools the person has allowed for the rest of this command. */
  readonly approved: Set<string>;
  readonly context: Context;
}

async function answer({ agent, context }: Talk, input: Parameters<typeof agent.stream>[0]): Promise<RunResult> {
  const stream = agent.stream(input);
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
  return stream.result;
}

/** Asks about each call that waits; what was decided is kept in the thread at once. */
async function decide({ agent, approved, context }: Talk, threadId: string): Promise<void> {
  const { output, signal } = context;
  const handle = agent.thread(threadId);
  for (const call of await handle.approvals()) {
    if (call.answer !== null) continue;
    await output.line(askedText(call));
    const verdict = approved.has(call.name)
      ? "yes"
      : verdictOf(await ask("Run it? [y]es, [N]o, [a]lways now: ", signal));
    if (verdict === "always") approved.add(call.name);
    await handle.approve(call.id, verdict === "yes" || verdict === "always" ? "yes" : "no");
  }
}

/** Two parts of one answer: what was asked in between was the person. */
function joined(first: RunResult, then: RunResult): RunResult {
  return { ...then, steps: first.steps + then.steps, usage: addUsage(first.usage, then.usage) };
}

/** How long the program stays to learn from the turn; what is left is learned by the next one. */
const LEARNING_MS = 10_000;

/** The turn stands, also if learning from it fails. */
async function learn(home: Home, memory: ConfiguredAgent["memory"], { output }: Context): Promise<void> {
  try {
    await Promise.all([memory?.close(LEARNING_MS), home.embedded()]);
  } catch (error) {
    const why = sentence(errorText(error));
    output.note(`warning: nothing could be learned from this now; it is kept for later: ${why}`);
  }
}

interface Told {
  readonly context: Context;
  readonly asked: string | undefined;
  readonly model: string | null;
  readonly before: ThreadCost | null;
  readonly after: ThreadCost | null;
}

async function reportRun(result: RunResult, { context, asked, model, before, after }: Told): Promise<number> {
  const { threadId, end } = result;
  if (end.kind === "busy") throw busy(threadId, end, "try again then, or wait longer with --wait SECONDS");
  if (end.kind === "failed") throw new Failure(end.code, sentence(end.message));
  if (end.kind === "aborted") context.signal.throwIfAborted();
  const go = `run PROMPT --thread ${threadId}${whose(context)}`;
  const note = unfinishedNote(end, {
    decide: `${programName()} chat --thread ${threadId}${whose(context)}`,
    goOn: "run again on the thread to go on",
  });
  if (context.format === "json") {
    const { costSince, runDocument } = await import("palimpsest/internal/documents");
    const config = await context.located.settings();
    await context.output.json(runDocument(result, { config, model, cost: costSince(before, after) }));
  } else {
    if (end.kind === "asked")
      await context.output.line([end.question, ...end.options.map((one) => `- ${one}`)].join("\n"));
    if (asked === undefined) context.output.note(`Go on with: ${programName()} ${go}`);
  }
  if (note === null) return 0;
  context.output.note(note);
  return 1;
}

/* `run` against a gateway: the run is the server's, its words come here as they are said. */

const runRemotely: Remote<TalkOptions> = async ({ positionals, options }, context) => {
  const { server, format, output } = context;
  checkTalk(options);
  for (const name of ["workspace", "window", "agent"] as const)
    if (options[name] !== undefined)
      throw new UsageError(`--${name} is for a home of this machine: leave --server out.`);
  const prompt = await promptOf(positionals, context);
  const asked = options.continue === true ? await newestThread(context) : options.thread;
  const threadId = asked ?? `thread-${randomUUID()}`;
  const body = {
    prompt,
    model: options.model,
    multitask: patience(options.wait) > 0 ? "wait" : "reject",
    on_disconnect: "cancel",
  };
  const path = threadPath(threadId, "/runs");
  if (format === "json") {
    const document = await server.send<{ readonly end: string }>("POST", path, body);
    await output.json(document);
    return document.end === "answered" || document.end === "asked" ? 0 : 1;
  }
  const request = { method: "POST", contentType: "application/json" };
  const response = await server.open(path, { ...request, body: JSON.stringify({ ...body, stream: true }) });
  return reportRunRemote(await said(response, context), threadId, { context, isNew: asked === undefined });
};

/** Prints what is said, and gives how it ended. */
async function said(response: Response, { output, signal }: RemoteContext): Promise<RunEnd> {
  let end: RunEnd | null = null;
  let shown = "";
  for await (const data of eventData(response)) {
    const event = data as AgentEvent;
    if (event.type === "run-end") end = event.end;
    if (event.type !== "text-delta") continue;
    shown += event.text;
    await output.write(event.text);
  }
  signal.throwIfAborted();
  if (shown !== "" && !shown.endsWith("\n")) await output.write("\n");
  if (end === null) throw new Failure("stream-cut", "The gateway ended the answer before its end: ask again.");
  return end;
}

async function newestThread(context: RemoteContext): Promise<string> {
  const newest = (await everyThread(remoteActs(context), { limit: 100 })).find(({ kind }) => kind === "main");
  if (newest === undefined) throw new Failure("missing", "There is no thread to go on with yet.");
  return newest.id;
}

async function reportRunRemote(
  end: RunEnd,
  threadId: string,
  { context, isNew }: { readonly context: RemoteContext; readonly isNew: boolean },
): Promise<number> {
  const { output } = context;
  if (end.kind === "failed") throw new Failure(end.code, sentence(end.message));
  if (end.kind === "asked") await output.line([end.question, ...end.options.map((one) => `- ${one}`)].join("\n"));
  if (isNew) output.note(`Go on with: ${programName()} run PROMPT --thread ${threadId}`);
  const decide = `POST ${context.server.url}${threadPath(threadId, "/approve")}`;
  const note = unfinishedNote(end, { decide, goOn: "run again on the thread to go on" });
  if (note === null) return 0;
  output.note(note);
  return 1;
}

export const running = { run: runHere, remote: runRemotely };
