/** The chat's commands that change what it talks to (model, thread) or show more of the last answer. */
import { checkThreadId } from "@palimpsest/core/log";
import { grouped } from "../terminal/grouped.ts";
import { table, titleCell } from "../terminal/table.ts";
import { printable } from "../terminal/terminal-text.ts";
import { showLastExchange } from "./last-words.ts";
import type { ChatSession } from "./session.ts";

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
  if (name === undefined) return screen.aside(`There is no model "${printable(argument)}"; /model lists them.`);
  await session.useModel(name);
  await screen.aside(`Answers come from ${name} now (${grouped(session.assistant.model.window.tokens)} tokens).`);
}

export async function threads(session: ChatSession, name: string): Promise<void> {
  const { deps, screen, listed } = session;
  if (name !== "") {
    const exists = checkThreadId(name).kind !== "invalid" && (await deps.store.header(name)) !== undefined;
    const id = exists ? name : listed.threads[Number(name) - 1];
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
