/** The chat's commands on what was said last: show it, ask it again, change it; and what the thread has taken so far. */
import { costLine } from "../home/money.ts";
import { counted } from "../terminal/counted.ts";
import { grouped } from "../terminal/grouped.ts";
import { plain } from "../terminal/terminal-text.ts";
import { goBefore } from "./actions.ts";
import { saidText } from "./prompt-rows.ts";
import type { ChatSession } from "./session.ts";
import { lastWords, wordsOf } from "./thread-text.ts";

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

/** So that somebody who comes back knows where they were: dimmed, and only the beginning of what is long. */
export async function showLastExchange({ deps, screen, threadId }: ChatSession): Promise<void> {
  let answer = "";
  for await (const { record } of deps.store.records(threadId, { kinds: ["message"], order: "descending" })) {
    if (record.kind !== "message") continue;
    const { role, text } = wordsOf(record);
    if (role === "assistant" && answer === "") answer = text;
    if (role !== "user" || text === "") continue;
    await screen.aside(firstLines(saidText(plain(text)), QUESTION_LINES));
    if (answer !== "") await screen.aside(firstLines(plain(answer), ANSWER_LINES));
    return;
  }
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
