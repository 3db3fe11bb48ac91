import type { RunEnd, WaitingCall } from "palimpsest";
import { offeredModels } from "palimpsest/internal/models";
import { heldText } from "palimpsest/internal/stores";
import { startIndexing } from "palimpsest/session";
import { showLastExchange, threadName } from "../chat/actions.ts";
import { completions } from "../chat/completion.ts";
import { attachMentioned } from "../chat/files.ts";
import type { Activity } from "../chat/input.ts";
import { type Keyboard, openPipe } from "../chat/keyboard.ts";
import { Screen } from "../chat/screen.ts";
import { ChatSession } from "../chat/session.ts";
import { type Meaning, meaningOf, wordsIn } from "../chat/slash.ts";
import { openTerminal } from "../chat/terminal-input.ts";
import type { CommandRun, Context } from "../command/command.ts";
import { endingOf, sentence } from "../command/failure.ts";
import { patience, whose, withHome } from "../home/home.ts";
import {
  askedText,
  type CallVerdict,
  checkTalk,
  chosenThread,
  chosenWorkspace,
  programName,
  requireModel,
  type TalkOptions,
  unfinishedNote,
} from "../home/talk.ts";
import type { Output } from "../terminal/output.ts";
import { costLine, counted } from "../terminal/output.ts";

export const run: CommandRun<TalkOptions> = async ({ options }, context) => {
  const waitMs = patience(options.wait);
  checkTalk(options);
  await requireModel(context, options.model ?? null);
  const workspace = await chosenWorkspace(options, context);
  return withHome(context, async (deps) => {
    // A person who is asked whether they trust it is asked before the terminal is taken.
    await context.located.settings();
    const threadId = (await chosenThread(options, deps.store)) ?? threadName(new Date());
    const leave = new AbortController();
    const seat = await takeSeat(context, leave, () => session?.stop());
    const { screen } = seat;
    let session: ChatSession | null = null;
    const indexing = await startIndexing(deps.store);
    try {
      session = new ChatSession({
        context: { ...context, output: seat.output },
        deps,
        screen,
        threadId,
        waitMs,
        window: options.window,
        agentName: options.agent,
        workspace,
      });
      await session.useModel(options.model);
      await greet(session);
      return await converse(session, seat.keyboard, leave.signal);
    } finally {
      await seat.keyboard.close();
      await session?.close(LEARNING_MS);
      await indexing.stop();
    }
  });
};

interface Seat {
  readonly keyboard: Keyboard;
  readonly screen: Screen;
  readonly output: Output;
}

/** At a terminal or at a pipe. */
async function takeSeat(context: Context, leave: AbortController, stop: () => void): Promise<Seat> {
  const { output, home } = context;
  const width = () => process.stdout.columns || 80;
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true) {
    const screen = new Screen({ output, terminal: false, width, show: () => {} });
    return { keyboard: openPipe((line) => screen.line(line)), screen, output };
  }
  const onLeave = () => {
    leave.abort();
    stop();
  };
  const keyboard = await openTerminal({ home, output, complete: completions, onStop: stop, onLeave });
  const show = (activity: Activity | null) => keyboard.show(activity);
  const screen = new Screen({ output: keyboard.output, terminal: true, width, show, clear: () => keyboard.clear() });
  return { keyboard, screen, output: keyboard.output };
}

/** How long leaving waits to learn from the last turns; what is left is learned by the next program. */
const LEARNING_MS = 10_000;

async function converse(session: ChatSession, keyboard: Keyboard, leave: AbortSignal): Promise<number> {
  let failed = false;
  let call: WaitingCall | null = null;
  while (!leave.aborted) {
    const { next } = session;
    session.next = null;
    if (next?.kind === "fill") keyboard.fill(next.text);
    call = next?.kind === "say" ? null : await waitingCall(session, call);
    const phase = call !== null ? "approving" : session.isAsked ? "asking" : "idle";
    const meaning = next?.kind === "say" ? wordsIn(next.text) : meaningOf(await keyboard.next(phase), call);
    if (meaning.kind === "quit") break;
    // What a command says again was typed, and its files copied, before.
    if (meaning.kind === "say" && next?.kind !== "say") await attachMentioned(session, keyboard.mentions());
    failed = !(await carriedOut(session, meaning)) || failed;
  }
  for (const unsaid of keyboard.unsaid()) await session.screen.aside(`(not said: ${unsaid})`);
  await sayGoodbye(session);
  return failed && !session.screen.terminal ? 1 : 0;
}

/** Shows the waiting call if it is a new one. Null through a pipe: its next line becomes a message, which refuses the call. */
async function waitingCall(session: ChatSession, before: WaitingCall | null): Promise<WaitingCall | null> {
  const call = session.screen.terminal ? await session.waiting() : null;
  if (call !== null && call.id !== before?.id) await showCall(session, call);
  return call;
}

/** False: it failed, and the person was told. */
async function carriedOut(
  session: ChatSession,
  meaning: Exclude<Meaning<WaitingCall>, { readonly kind: "quit" }>,
): Promise<boolean> {
  try {
    switch (meaning.kind) {
      case "nothing":
        return true;
      case "verdict":
        return await decided(session, meaning.call, meaning.verdict);
      case "command": {
        const { name, argument, run: act } = meaning.command;
        if (argument === "" && meaning.argument !== "")
          await session.screen.aside(
            `Nothing done: /${name} takes nothing behind it; /help lists what each command takes.`,
          );
        else await act(session, meaning.argument);
        return true;
      }
      case "unknown":
        await session.screen.aside(`There is no /${meaning.name}; /help lists what there is.`);
        return true;
      case "say":
        return await shown(session, await session.say(meaning.text));
    }
  } catch (error) {
    await session.screen.aside(`! ${(await endingOf(error)).message}`);
    return false;
  }
}

async function showCall({ screen }: ChatSession, call: WaitingCall): Promise<void> {
  await screen.line(askedText(call));
  await screen.aside(
    "y runs it, n refuses it, a always runs this tool while the chat is open; anything else is said instead",
  );
}

async function decided(session: ChatSession, call: WaitingCall, verdict: CallVerdict): Promise<boolean> {
  const end = await session.decide(call, verdict);
  if (end === "busy") await session.screen.aside("! Another run is writing to this thread: try again.");
  return end === "busy" || end === "others-wait" || shown(session, end);
}

/** A thread in which nothing was said isn't there. */
async function sayGoodbye(session: ChatSession): Promise<void> {
  const { screen, threadId, deps } = session;
  if ((await deps.store.header(threadId)) === undefined) return;
  const money = await deps.cost(threadId);
  if (money !== null) await screen.aside(`${sentence(costLine(money))}.`);
  await screen.aside(`Go on with: ${wayBack(session)}`);
}

function wayBack({ threadId, context }: ChatSession): string {
  return `${programName()} chat --thread ${threadId}${whose(context)}`;
}

/** How an answer ended, and what fills the window now; false when it failed. */
async function shown(session: ChatSession, end: RunEnd): Promise<boolean> {
  const { screen } = session;
  if (end.kind === "asked") {
    await screen.line(end.question);
    for (const [index, option] of end.options.entries()) await screen.line(`  ${index + 1}. ${option}`);
  }
  if (end.kind === "aborted") await screen.aside("(stopped; what was said so far is kept)");
  if (end.kind === "busy") await screen.aside(`! Another run is writing to this thread${heldText(end)}.`);
  if (end.kind === "failed") await screen.aside(`! ${end.message}`);
  const asking = end.kind === "approval" && screen.terminal;
  const note = asking ? null : unfinishedNote(end, { decide: wayBack(session), goOn: 'say "go on" to continue' });
  if (note !== null) await screen.aside(`! ${note}`);
  const budget = await session.budget();
  if (budget !== null) await screen.styledAside(budget);
  return end.kind !== "failed" && end.kind !== "busy" && (end.kind !== "approval" || asking);
}

async function greet(session: ChatSession): Promise<void> {
  const { screen, threadId, context, deps } = session;
  const { model } = session.assistant;
  const name = model.provider === "offline" ? "offline model" : model.name;
  const messages = (await deps.store.head(threadId))?.messages ?? 0;
  await screen.line(`palimpsest · ${threadId} · ${messages === 0 ? "new" : counted(messages, "message")} · ${name}`);
  if (model.provider === "offline")
    await screen.aside("No model is asked: answers recall and quote what was said here.");
  if (model.provider === "offline") for (const line of offers()) await screen.aside(line);
  if (model.provider === "offline" && messages === 0)
    for (const line of suggestions(model.window.tokens)) await screen.aside(line);
  await screen.aside("/help lists commands · Ctrl-C stops an answer, twice leaves");
  if (model.fallback !== null) context.output.note(`warning: ${model.fallback.message}`);
  if (messages === 0 || !screen.terminal) return;
  await showLastExchange(session);
  const budget = await session.budget();
  if (budget !== null) await screen.styledAside(budget);
}

/** Whose key is here already. */
function offers(): readonly string[] {
  const [first] = offeredModels(process.env);
  return first === undefined ? [] : [`$${first.variable} is set; to use it: ${programName()} config init`];
}

/** What a newcomer can do to see what it is for. */
function suggestions(window: number): readonly string[] {
  const small = window <= SMALL_WINDOW;
  return [
    'Try: "My dog Rex lives in Oslo.", then "Where does Rex live?"',
    small
      ? "Go on for ten messages or so: the window fills, a summary takes the older part, and you can still ask about it."
      : `To see a window fill and a compaction within minutes: ${programName()} chat --window 4000`,
  ];
}

const SMALL_WINDOW = 10_000;
