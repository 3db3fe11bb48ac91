/** What the chat's commands do to the thread: compact, undo, redo, look at it, search, pin, fork. */

import { writeFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { checkThreadId, type MessageRecord } from "@palimpsest/core/internal/log";
import { readStored } from "@palimpsest/core/internal/message";
import { createSnippets } from "@palimpsest/core/internal/recall";
import { errorCode } from "@palimpsest/core/internal/text";
import type { ExportFormat } from "palimpsest/import";
import { pin as pinAct, redo as redoAct, undo as undoAct } from "palimpsest/internal/acting";
import { freeForkName } from "palimpsest/internal/assistant";
import { checkScope, memoryService } from "palimpsest/internal/memory";
import { coverNote } from "palimpsest/internal/recall";
import { foldRange } from "palimpsest/internal/shaping";
import { searchThread } from "palimpsest/session";
import { programName } from "../home/talk.ts";
import { drawBudget } from "../terminal/budget-bar.ts";
import { inMarkdown, NOTHING_FOUND } from "../terminal/messages.ts";
import { costLine, counted, grouped, plain, printable } from "../terminal/output.ts";
import { table, titleCell } from "../terminal/table.ts";
import { createMarkdown } from "./markdown.ts";
import { saidText } from "./prompt-rows.ts";
import { number, perform } from "./rules.ts";
import type { ChatSession } from "./session.ts";

const NOTHING_YET = "Nothing was said in this thread yet.";

const COMPACT_USAGE =
  "Nothing done: /compact takes words for its focus, or a range: /compact 3-11, /compact --from 3 --until 11.";

export async function compact(session: ChatSession, focus: string): Promise<void> {
  const { assistant, screen, threadId } = session;
  const range = rangeIn(focus);
  if (range === "unclear") return screen.aside(COMPACT_USAGE);
  if (range !== null) {
    const folded = await perform(session, foldRange, { thread: threadId, ...range });
    if (folded === null) return;
    const [from, until] = folded.range;
    const cost = `${folded.tokensBefore} -> ${folded.tokensAfter} tokens`;
    return screen.aside(`Folded ${from} to ${until}: ${cost}; /undo takes it back.`);
  }
  const outcome = await session.interruptible(
    (signal) => assistant.agent.compact(threadId, { signal, focus: focus === "" ? undefined : focus }),
    "compacting",
  );
  // What a compaction did is shown where its event is.
  if (outcome.kind === "unchanged") await screen.aside(`Nothing changed (${outcome.reason}): ${outcome.detail}.`);
}

interface GivenRange {
  readonly from?: number;
  readonly until?: number;
}

/** Null: words. What holds options or nothing but numbers is never a focus. */
function rangeIn(text: string): GivenRange | "unclear" | null {
  const both = /^#?(\d{1,15})-#?(\d{1,15})$/.exec(text);
  if (both !== null) return { from: Number(both[1]), until: Number(both[2]) };
  if (text === "" || !/^[-\d#]|(?:^|\s)--?[a-z]/i.test(text) || /^\d\S*\s+\p{L}/u.test(text)) return null;
  const options = /^(?:--(?:from|until)[ =]#?\d{1,15}(?:\s+|$))+$/.test(text);
  const given = Object.fromEntries(
    [...text.matchAll(/--(from|until)[ =]#?(\d+)/g)].map(([, at, seq]) => [at, Number(seq)]),
  );
  return options ? given : "unclear";
}

export async function undo(session: ChatSession): Promise<void> {
  const done = await perform(session, undoAct, { thread: session.threadId });
  if (done?.undone === undefined) return;
  const what = await actAt(session, done.undone);
  await session.screen.aside(`${what} (record ${done.undone}) is taken back; /redo brings it back.`);
}

async function actAt({ deps, threadId }: ChatSession, seq: number): Promise<string> {
  for await (const { record } of deps.store.records(threadId, { range: [seq, seq] })) {
    if (record.kind !== "prune") continue;
    const [{ reason, target } = { reason: "clamped", target: seq }] = record.entries;
    if (reason === "edited") return "The change of the summary";
    if (reason === "hidden") return `The hiding of message ${target}`;
    return reason === "folded" || reason === "reported" ? "The fold" : "The shortening of long messages";
  }
  return "The compaction";
}

export async function redo(session: ChatSession): Promise<void> {
  const done = await perform(session, redoAct, { thread: session.threadId });
  if (done === null) return;
  await session.screen.aside(
    `The undo (record ${done.redone}) is taken back: what it undid is in force again; /undo takes it back again.`,
  );
}

export async function context({ assistant, screen, threadId }: ChatSession): Promise<void> {
  const prompt = await assistant.agent.thread(threadId).context();
  if (prompt.kind === "missing") return screen.aside(NOTHING_YET);
  await screen.styled(drawBudget(prompt.breakdown, { title: threadId, color: screen.color, width: screen.width }));
}

export async function search({ deps, screen, threadId }: ChatSession, words: string): Promise<void> {
  if (words === "") return screen.aside("Say what to look for: /search WORDS");
  const result = await searchThread(deps.store, threadId, words, {
    limit: 5,
    only: "holders",
    ...(await deps.embedding()),
  });
  const missing = coverNote(result);
  if (missing !== null) await screen.aside(missing);
  if (result.kind === "nothing") return screen.aside(NOTHING_FOUND[result.reason]);
  const snippetOf = createSnippets(words);
  for (const { seq, role, text } of result.hits) {
    const snippet = snippetOf(text);
    const excerpt = screen.color ? inMarkdown(snippet) : snippet.text;
    await screen.prose(`- #${seq} ${role}: ${excerpt.replaceAll(/\s+/g, " ")}`);
  }
}

/** Without a number: the person's own last words. */
export async function pin(session: ChatSession, argument: string): Promise<void> {
  const { screen, threadId: thread } = session;
  const seq = argument === "" ? ((await lastWords(session))?.seq ?? null) : number(argument);
  if (seq === null) return screen.aside(argument === "" ? NOTHING_YET : "/pin takes the number of a record: /pin 12");
  const pinned = await perform(session, pinAct, { thread, seq });
  if (pinned !== null) await screen.aside(`Message ${seq} is pinned: every summary quotes it.`);
}

/** Without a number: everything up to now. */
export async function fork(session: ChatSession, argument: string): Promise<void> {
  const { assistant, deps, screen, threadId } = session;
  const at = argument === "" ? ((await deps.store.head(threadId))?.version ?? null) : number(argument);
  if (at === null) return screen.aside(argument === "" ? NOTHING_YET : "/fork takes the number of a record: /fork 12");
  const as = await freeForkName(deps.store, threadId, at);
  const forked = await assistant.agent.thread(threadId).fork({ as, at });
  if (forked.kind !== "forked") return screen.aside(`Not forked: ${threadId} has no record ${at}.`);
  session.goTo(as);
  await screen.aside(`This is ${as} now, which shares ${threadId} up to record ${at}. /threads ${threadId} goes back.`);
}

/** In a thread of its own that shares what was before this record; where nothing was, in a new one. */
async function goBefore(session: ChatSession, seq: number): Promise<void> {
  const { assistant, deps, screen, threadId } = session;
  const as = await freeForkName(deps.store, threadId, seq - 1);
  if (seq > 1) await assistant.agent.thread(threadId).fork({ as, at: seq - 1 });
  session.goTo(as);
  await screen.aside(`This is ${as} now; ${threadId} stays as it is (/threads ${threadId}).`);
}

/* The chat's commands that change what it talks to (model, thread) or show more of the last answer. */

export async function model(session: ChatSession, argument: string): Promise<void> {
  const { context, screen, listed } = session;
  const { models } = await context.located.settings();
  const current = session.assistant.model.name;
  if (argument === "") {
    if (models.length === 0) return screen.aside(`* ${current}; config.yaml names others under "models".`);
    listed.models = models.map(({ name }) => name);
    const rows = models.map(({ name, provider, model: id }, index) => [
      `${name === current ? "*" : " "} ${index + 1}`,
      name,
      `${provider} ${id}`,
    ]);
    await screen.line(table(["  no", "model", "provider"], rows));
    return screen.aside("/model NAME or its number uses another one.");
  }
  const name = models.some((entry) => entry.name === argument) ? argument : listed.models[Number(argument) - 1];
  if (name === undefined && argument === current) return screen.aside(`Answers come from ${current} already.`);
  if (name === undefined) return screen.aside(`There is no model "${printable(argument)}"; /model lists them.`);
  await session.useModel(name);
  await screen.aside(`Answers come from ${name} now (${grouped(session.assistant.model.window.tokens)} tokens).`);
}

export async function threads(session: ChatSession, name: string): Promise<void> {
  const { deps, screen, listed } = session;
  if (name !== "") {
    const exists = checkThreadId(name).kind !== "invalid" && (await deps.store.header(name)) !== undefined;
    const id = exists ? name : listed.threads[Number(name) - 1];
    if (id === undefined && /^\d+$/.test(name))
      return screen.aside(`The list has no number ${name}; /threads shows it.`);
    if (id === undefined) return screen.aside(`There is no thread "${printable(name)}"; /new makes one.`);
    session.goTo(id);
    await screen.aside(`This is ${id} now.`);
    return showLastExchange(session);
  }
  const page = await deps.store.threads({ kind: "main", limit: 10 });
  if (page.threads.length === 0) return screen.aside("No threads yet.");
  listed.threads = page.threads.map(({ header }) => header.id);
  const rows = page.threads.map(({ header, title, messages }, index) => [
    `${header.id === session.threadId ? "*" : " "} ${index + 1}`,
    header.id,
    String(messages),
    titleCell(title ?? ""),
  ]);
  await screen.line(table(["  no", "thread", "messages", "title"], rows));
}

/** The old thread stays where it is. */
export async function clear(session: ChatSession): Promise<void> {
  const before = session.threadId;
  await session.screen.clear();
  await newThread(session, "");
  if (before !== session.threadId) await session.screen.aside(`/threads ${before} goes back.`);
}

export async function newThread(session: ChatSession, id: string): Promise<void> {
  const wanted = id === "" ? threadName(new Date()) : id;
  const checked = checkThreadId(wanted);
  if (checked.kind === "invalid") return session.screen.aside(`Not a thread id: ${checked.problem}.`);
  const stands = (await session.deps.store.header(wanted)) !== undefined;
  session.goTo(wanted);
  await session.screen.aside(stands ? `This is ${wanted} now; it was there already.` : `This is ${wanted} now.`);
}

/** Sorts by time and can be typed. */
export function threadName(now: Date): string {
  return `chat-${now.toISOString().slice(0, 19).replaceAll(":", "").replace("T", "-")}`;
}

export async function unfold({ screen, uses }: ChatSession): Promise<void> {
  if (uses.length === 0) return screen.aside("The last answer used no tools.");
  for (const { name, input, output } of uses) {
    await screen.line(`> ${name} ${printable(JSON.stringify(input) ?? "")}`);
    const text = typeof output === "string" ? output : (JSON.stringify(output, null, 2) ?? "");
    await screen.aside(text.split("\n").map(printable).join("\n"));
  }
}

/* /export: the thread as a file, in the format of the file's name. */

/** Never over a file that is there already. */
export async function exportThread({ deps, screen, threadId }: ChatSession, argument: string): Promise<void> {
  if ((await deps.store.header(threadId)) === undefined) return screen.aside("Nothing was said in this thread yet.");
  const file = resolve(argument === "" ? `${threadId}.md` : argument.replace(/^(["'])(.*)\1$/, "$2"));
  const ending = extname(file).toLowerCase();
  const format = FORMATS[ending];
  if (format === undefined) return screen.aside(`/export writes .md, .html and .jsonl, not ${ending}.`);
  const { exportThread: pieces } = await import("palimpsest/import");
  try {
    await writeFile(file, pieces(deps.store, threadId, format), { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    return screen.aside(`${file} is there already: /export FILE names another one.`);
  }
  await screen.aside(`Written to ${file}.`);
}

const FORMATS: Readonly<Record<string, ExportFormat>> = {
  "": "markdown",
  ".md": "markdown",
  ".markdown": "markdown",
  ".txt": "markdown",
  ".html": "html",
  ".htm": "html",
  ".jsonl": "jsonl",
  ".json": "jsonl",
};

/* What the chat shows of memory; changing it is `palimpsest memory`. */

export async function memory({ assistant, screen, context, agentName }: ChatSession, words: string): Promise<void> {
  if (assistant.memory === null) return screen.aside("Memory is turned off in the configuration.");
  const checked = checkScope(context.userId, agentName ?? null);
  if (checked.kind === "invalid") return screen.aside(`Nothing is remembered: ${checked.problem}.`);
  const { repository } = assistant.memory;
  const service = memoryService({ repository, clock: () => new Date(), ids: () => crypto.randomUUID() });
  const { facts, userContext, history } = await service.show(checked.scope);
  const found = words === "" ? null : await service.search(checked.scope, words);
  const matches = found === null ? facts : found.kind === "found" ? found.hits.map(({ fact }) => fact) : [];
  const sections = words === "" ? [...Object.entries(userContext), ...Object.entries(history)] : [];
  const lines = [
    ...sections.flatMap(([name, text]) => (text === "" ? [] : [`${name}: ${text}`])),
    ...matches.filter(({ validTo }) => validTo === undefined).map(({ id, content }) => `${id}  ${content}`),
  ];
  const isAct = /^(?:add|edit|forget|delete|remove|export|import)\b/.test(words);
  const hint = isAct ? ` /memory WORDS searches; "${programName()} memory --help" lists what changes it.` : "";
  if (lines.length === 0) return screen.aside(words === "" ? "Nothing is remembered yet." : `Nothing found.${hint}`);
  for (const line of lines) await screen.aside(printable(line));
  if (hint !== "") await screen.aside(hint.trim());
}

/* The chat's commands on what was said last: show it, ask it again, change it; and what the thread has taken so far. */

const NOTHING_SAID = "You have said nothing in this thread yet.";

export async function retry(session: ChatSession): Promise<void> {
  const last = await lastWords(session);
  if (last === null) return session.screen.aside(NOTHING_SAID);
  await goBefore(session, last.seq);
  await session.screen.line(saidText(last.text));
  session.next = { kind: "say", text: last.text };
}

/** Without a text the last message is put into the line, to be changed there. */
export async function edit(session: ChatSession, text: string): Promise<void> {
  const last = await lastWords(session);
  if (last === null) return session.screen.aside(NOTHING_SAID);
  if (text === "") {
    session.next = { kind: "fill", text: `/edit ${last.text}` };
    if (!session.screen.terminal) await session.screen.aside("Say what it should be: /edit TEXT");
    return;
  }
  await goBefore(session, last.seq);
  session.next = { kind: "say", text };
}

/** The last exchange of a thread that is opened again: dimmed, and only the beginning of what is long. */
export async function showLastExchange({ deps, screen, threadId }: ChatSession): Promise<void> {
  let answer = "";
  for await (const { record } of deps.store.records(threadId, { kinds: ["message"], order: "descending" })) {
    if (record.kind !== "message") continue;
    const { role, text } = wordsOf(record);
    if (role === "assistant" && answer === "") answer = text;
    if (role !== "user" || text === "") continue;
    await screen.aside(firstLines(saidText(plain(text)), QUESTION_LINES));
    if (answer !== "") await screen.aside(firstLines(unmarked(answer, screen), ANSWER_LINES));
    return;
  }
}

/** Renders the Markdown of an earlier answer without colors. */
function unmarked(answer: string, { terminal, width }: ChatSession["screen"]): string {
  const markdown = createMarkdown({ color: false, width: terminal ? () => width : null });
  return markdown.push(answer) + markdown.end();
}

const QUESTION_LINES = 4;
const ANSWER_LINES = 8;

function firstLines(text: string, most: number): string {
  const lines = text.trim().split("\n");
  return lines.length <= most
    ? lines.join("\n")
    : [...lines.slice(0, most), `... (${lines.length - most} more lines)`].join("\n");
}

export async function cost({ deps, screen, threadId }: ChatSession): Promise<void> {
  const { answers, ...beside } = await deps.charges(threadId);
  const totals = [answers, ...Object.values(beside)];
  const calls = totals.reduce((sum, one) => sum + one.calls, 0);
  if (calls === 0) return screen.aside("No model was asked in this thread yet.");
  const sum = (of: keyof typeof answers.usage) => totals.reduce((all, { usage }) => all + usage[of], 0);
  const others = Object.entries(beside).flatMap(([use, one]) =>
    one.calls === 0 ? [] : [`${one.calls} for ${use === "subagents" ? "sub-agents" : use}`],
  );
  const which = others.length === 0 ? "" : ` (${others.join(", ")})`;
  const cached = sum("cacheRead") === 0 ? "" : ` (${grouped(sum("cacheRead"))} of them from the cache)`;
  const money = await deps.cost(threadId);
  const spent = money === null ? "" : `; ${costLine(money)}`;
  await screen.aside(
    `${counted(calls, "model call")}${which}: ${grouped(sum("input"))} tokens in${cached}, ${grouped(sum("output"))} out${spent}.`,
  );
}

/* The words of stored messages, in any dialect. */

interface SaidWords {
  readonly role: string;
  readonly text: string;
}

function wordsOf(record: Pick<MessageRecord, "dialect" | "body">): SaidWords {
  const { shape, message } = readStored(record);
  const texts = shape.parts(message).flatMap((part) => (part.kind === "text" ? [part.text] : []));
  return { role: shape.role(message), text: texts.join("\n") };
}

interface LastWords {
  readonly seq: number;
  readonly text: string;
}

async function lastWords({ deps, threadId }: ChatSession): Promise<LastWords | null> {
  for await (const { record } of deps.store.records(threadId, { kinds: ["message"], order: "descending" }))
    if (record.kind === "message" && record.origin === "user") return { seq: record.seq, text: wordsOf(record).text };
  return null;
}
