import type { RunEnd } from "palimpsest/agent";
import { type Keyboard, openPipe, openTerminal } from "../chat/keyboard.ts";
import { Screen } from "../chat/screen.ts";
import { Session } from "../chat/session.ts";
import { complete, readSlash } from "../chat/slash.ts";
import { threadName } from "../chat/switching.ts";
import type { Run } from "../command/command.ts";
import { endingOf, UsageError } from "../command/failure.ts";
import { patience, requireThreadId, whose, withHome } from "../home/home.ts";
import type { TalkOptions } from "../home/talk.ts";

export const run: Run<TalkOptions> = async ({ options }, context) => {
  const waitMs = patience(options.wait);
  if (context.format === "json") throw new UsageError('chat has no --json; "palimpsest run PROMPT --json" has.');
  const given = options.thread;
  if (given !== undefined) requireThreadId(given);
  const terminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const screen = new Screen({ output: context.output, terminal, width: () => process.stdout.columns || 80 });
  return withHome(context, async (deps) => {
    const agentName = options.agent;
    const session = new Session({ context, deps, screen, thread: given ?? threadName(new Date()), waitMs, agentName });
    await session.useModel(options.model);
    await greet(session);
    const leave = new AbortController();
    const keyboard = terminal
      ? await openTerminal({ home: context.home, complete, onInterrupt: interrupter(session, leave) })
      : openPipe((line) => screen.line(line));
    try {
      return await converse(session, keyboard, leave.signal);
    } finally {
      await keyboard.close();
      await session.close(LEARNING_MS);
    }
  });
};

/** How long leaving waits to learn from the last turns; what is left is learned by the next program. */
const LEARNING_MS = 10_000;

async function converse(session: Session, keyboard: Keyboard, leave: AbortSignal): Promise<number> {
  const left = new Promise<null>((resolve) => leave.addEventListener("abort", () => resolve(null)));
  let failed = false;
  for (;;) {
    const line = await Promise.race([keyboard.next(), left]);
    const slash = line === null ? { kind: "quit" as const } : readSlash(line);
    // Ctrl-D and Ctrl-C leave the cursor behind the prompt.
    if (line === null && process.stdin.isTTY === true) await session.screen.line("");
    if (line === null || slash.kind === "quit") break;
    if (line.trim() === "") continue;
    try {
      if (slash.kind === "command") await slash.command.run(session, slash.argument);
      else if (slash.kind === "unknown")
        await session.screen.aside(`There is no /${slash.name}; /help lists what there is.`);
      else failed = !(await shown(session, await session.say(line))) || failed;
    } catch (error) {
      failed = true;
      await session.screen.aside(`! ${(await endingOf(error)).message}`);
    }
    if (leave.aborted) break;
  }
  await session.screen.aside(`Go on with: palimpsest chat --thread ${session.thread}${whose(session.context)}`);
  return failed && process.stdin.isTTY !== true ? 1 : 0;
}

/** How an answer ended, and what fills the window now; false when it failed. */
async function shown(session: Session, end: RunEnd): Promise<boolean> {
  const { screen } = session;
  if (end.kind === "asked") {
    await screen.line(end.question);
    for (const [index, option] of end.options.entries()) await screen.line(`  ${index + 1}. ${option}`);
  }
  if (end.kind === "aborted") await screen.aside("(stopped; what was said so far is kept)");
  if (end.kind === "busy") await screen.aside(`! Another run is writing to this thread, until ${end.expiresAt}.`);
  if (end.kind === "failed") await screen.aside(`! ${end.message}`);
  if (end.kind === "step-limit") await screen.aside(`! Stopped after ${end.limit} steps: say "go on" to continue.`);
  const budget = await session.budget();
  if (budget !== null) await screen.styledAside(budget);
  return end.kind !== "failed" && end.kind !== "busy";
}

/** Once stops what is going on; again while it stops, or twice when nothing is, leaves. */
function interrupter(session: Session, leave: AbortController): () => void {
  let idleAt = Number.NEGATIVE_INFINITY;
  return () => {
    const stopped = session.stop();
    const now = performance.now();
    const twice = stopped === "again" || (stopped === "idle" && now - idleAt < TWICE_MS);
    if (twice) leave.abort();
    if (twice || stopped !== "idle") return;
    idleAt = now;
    void session.screen.aside("\n(Ctrl-C again leaves)");
  };
}

const TWICE_MS = 2000;

async function greet({ assistant: { model }, screen, thread, context, deps }: Session): Promise<void> {
  const name = model.provider === "offline" ? "offline model" : model.name;
  const known = (await deps.store.head(thread))?.messages ?? 0;
  await screen.line(`palimpsest · ${thread} · ${known === 0 ? "new" : `${known} messages`} · ${name}`);
  if (model.provider === "offline")
    await screen.aside("No model is asked: answers recall and quote what was said here.");
  await screen.aside("/help lists commands · Ctrl-C stops an answer, twice leaves");
  if (model.fallback !== null) context.output.note(`warning: ${model.fallback.message}`);
}
