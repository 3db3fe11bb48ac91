/** What the chat's commands do to rules, notes and hidden messages: the same operations as those of the command line. */
import { type Operation, OperationError, type ResultOf } from "palimpsest/internal/operation";
import { lines } from "palimpsest/internal/reading";
import {
  addedRule,
  editedRule,
  endedRule,
  hide,
  notes,
  restoredRule,
  rules,
  show,
  summary,
  summaryEdit,
} from "palimpsest/internal/shaping";
import type { z } from "zod";
import type { ChatSession } from "./session.ts";
import { wrapped } from "./wording.ts";

const RULE_USAGE =
  "/rules lists them, /rules all the ended ones too; /rules add TEXT, /rules edit ID TEXT, /rules end ID, /rules restore ID change them.";

export async function ruleList(session: ChatSession, argument: string): Promise<void> {
  const [act = "", ...words] = argument.split(/\s+/);
  const thread = session.threadId;
  const [rule = "", ...rest] = words;
  if (act === "" || argument === "all") return listed(session, act);
  const said = words.join(" ");
  const changed =
    act === "add" && said !== ""
      ? await perform(session, addedRule, { thread, text: said })
      : act === "edit" && rest.length > 0
        ? await perform(session, editedRule, { thread, rule, text: rest.join(" ") })
        : act === "end" && rule !== ""
          ? await perform(session, endedRule, { thread, rule })
          : act === "restore" && rule !== ""
            ? await perform(session, restoredRule, { thread, rule })
            : undefined;
  if (changed === undefined) return session.screen.aside(RULE_USAGE);
  if (changed === null) return;
  const { id, text, status } = changed.rule;
  await session.screen.aside(status === "active" ? `In force: ${id} ${text}` : `Ended: ${id} ${text}`);
  for (const old of changed.ended)
    if (old.id !== id) await session.screen.aside(`It takes the place of ${old.id} ${old.text}`);
}

async function listed(session: ChatSession, which: string): Promise<void> {
  const { screen, threadId } = session;
  const result = await perform(session, rules, { thread: threadId });
  if (result === null) return;
  const ended = result.rules.filter(({ status }) => status === "ended");
  const shown = which === "all" ? result.rules : result.rules.filter((rule) => !ended.includes(rule));
  const more = which === "all" || ended.length === 0 ? null : `${ended.length} ended: /rules all lists them too.`;
  if (shown.length === 0)
    return screen.aside(more === null ? `No rules yet. ${RULE_USAGE}` : `No rules in force; ${more}`);
  for (const line of listedRules(shown)) await screen.line(`  ${line}`);
  if (shown.some(({ status }) => status === "proposed"))
    await screen.aside("/rules restore ID puts a proposed one in force.");
  if (more !== null) await screen.aside(more);
}

/** A line for each: its id, its words, and in brackets whether it holds and where it comes from. */
export function listedRules(list: ResultOf<typeof rules>["rules"]): string[] {
  return list.map(({ id, text, status, source, scope, ended }) => {
    const said = source === null ? null : `message ${source}`;
    const origin = scope === "thread" ? said : scope === "file" ? "from a file" : `of the ${scope}`;
    const why = /^(?:r\d|message )/.test(ended ?? "") ? `ended by ${ended}` : status;
    const facts = [status === "active" ? null : why, origin].filter((fact) => fact !== null);
    return `${id.padEnd(5)} ${text}${facts.length === 0 ? "" : `  (${facts.join(", ")})`}`;
  });
}

export async function noteList(session: ChatSession): Promise<void> {
  const result = await perform(session, notes, { thread: session.threadId });
  if (result === null) return;
  if (result.notes.length === 0) return session.screen.aside("The model wrote no notes in this thread.");
  for (const { name, text, revision } of result.notes)
    await session.screen.prose(`**${name}** (revision ${revision})\n\n${text}`);
}

export async function hideMessage(session: ChatSession, argument: string): Promise<void> {
  if (argument === "") return numbered(session, "/hide takes the number of a message, such as one of these:");
  const seq = number(argument);
  if (seq === null)
    return session.screen.aside(
      `Nothing hidden: "${argument.slice(0, 40)}" is not the number of a message; /hide lists them, /compact 3-11 folds a range.`,
    );
  const done = await perform(session, hide, { thread: session.threadId, seq });
  if (done !== null)
    await session.screen.aside(
      `Hidden: ${done.tokensBefore} -> ${done.tokensAfter} tokens; /show ${seq} brings it back.`,
    );
}

const LISTED = 12;

/** The newest messages that the prompt shows, with their numbers. */
async function numbered(session: ChatSession, heading: string): Promise<void> {
  const { screen, deps, threadId: thread } = session;
  const head = await deps.store.head(thread);
  const from = Math.max((head?.hiddenThrough ?? 0) + 1, (head?.version ?? 0) - 100);
  const result = await perform(session, lines, { thread, from, limit: 100, length: 60 });
  if (result === null) return;
  if (result.lines.length === 0) return screen.aside("The prompt shows no message yet that could be hidden.");
  await screen.aside(heading);
  for (const { seq, role, parts } of result.lines.slice(-LISTED)) {
    const words = parts.map(({ text }) => text).join(" ");
    await screen.line(`  ${String(seq).padEnd(5)}${role}: ${words.replaceAll(/\s+/g, " ").slice(0, 60)}`);
  }
}

export async function showMessage(session: ChatSession, argument: string): Promise<void> {
  const seq = number(argument);
  if (seq === null) return session.screen.aside("/show takes the number of a message: /show 12");
  if ((await perform(session, show, { thread: session.threadId, seq })) !== null)
    await session.screen.aside(`Message ${seq} is shown again.`);
}

const SUMMARY_USAGE =
  "/summary lists the items; /summary edit ID TEXT, /summary add TEXT, /summary delete ID change them.";

export async function summaryItems(session: ChatSession, argument: string): Promise<void> {
  const [act = "", ...words] = argument.split(/\s+/);
  const thread = session.threadId;
  const [item = "", ...rest] = words;
  if (act === "") {
    const result = await perform(session, summary, { thread });
    if (result === null) return;
    const { terminal, width } = session.screen;
    for (const line of summaryLines(result))
      for (const row of terminal ? wrapped(`  ${line}`, width) : [`  ${line}`]) await session.screen.line(row);
    return session.screen.aside(result.compaction === null ? "/compact makes one." : SUMMARY_USAGE);
  }
  const edited =
    act === "add" && words.length > 0
      ? await perform(session, summaryEdit, { thread, act, text: words.join(" ") })
      : act === "edit" && rest.length > 0
        ? await perform(session, summaryEdit, { thread, act, item, text: rest.join(" ") })
        : act === "delete" && item !== ""
          ? await perform(session, summaryEdit, { thread, act, item })
          : undefined;
  if (edited === undefined) return session.screen.aside(SUMMARY_USAGE);
  if (edited !== null)
    await session.screen.aside(
      `${EDIT_DONE[act === "add" || act === "delete" ? act : "edit"]} ${edited.item}: ${edited.tokensBefore} -> ${edited.tokensAfter} tokens, ${edited.rereads} read without the cache; /undo takes it back.`,
    );
}

export const EDIT_DONE = { add: "Added", edit: "Changed", delete: "Deleted" } as const;

/** Its items by section, each with the id that the other commands take. */
export function summaryLines({ thread, compaction, items }: ResultOf<typeof summary>): string[] {
  if (compaction === null) return [`Nothing of ${thread} is hidden, so there is no summary yet.`];
  if (items.length === 0) return [`The summary of ${thread} (record ${compaction}) has no items that can be edited.`];
  return [...Map.groupBy(items, ({ section }) => section)].flatMap(([section, own]) => [
    `${section}:`,
    ...own.map(({ id, text, status }) => `  ${id.padEnd(5)}${text}${status === "open" ? "" : `  (${status})`}`),
  ]);
}

/** Null when it was refused, which is said. */
export async function perform<Given extends z.ZodObject, Result>(
  { deps, screen, context }: ChatSession,
  act: Operation<Given, Result>,
  input: z.output<Given>,
): Promise<Result | null> {
  try {
    return await act.run(deps, input, { signal: context.signal });
  } catch (error) {
    if (!OperationError.isInstance(error)) throw error;
    if (error.code === "missing") {
      await screen.aside("Nothing was said here yet: the thread begins with your first message.");
      return null;
    }
    await screen.aside(`${error.message[0]?.toUpperCase()}${error.message.slice(1)}.`);
    return null;
  }
}

export function number(text: string): number | null {
  return /^#?\d{1,15}$/.test(text) ? Number(text.replace("#", "")) : null;
}
