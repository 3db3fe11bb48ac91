/** The chat's commands that change what it talks to (model, thread) or show more of the last answer. */
import { checkThreadId } from "@palimpsest/core/log";
import { table } from "../terminal/table.ts";
import { printable } from "../terminal/terminal-text.ts";
import type { Session } from "./session.ts";

export async function model(session: Session, name: string): Promise<void> {
  const { context, screen } = session;
  const { models } = await context.located.settings();
  const current = session.assistant.model.name;
  if (name === "") {
    if (models.length === 0) return screen.aside(`${current}; config.yaml names models under \`models:\`.`);
    for (const { name: one, provider, model: id } of models)
      await screen.line(`${one === current ? "*" : " "} ${one}  ${provider} ${id}`);
    return;
  }
  if (!models.some((entry) => entry.name === name))
    return screen.aside(`There is no model "${name}"; /model lists them.`);
  await session.useModel(name);
  await screen.aside(`Answers come from ${name} now (${session.assistant.model.window.tokens} tokens).`);
}

export async function threads(session: Session, id: string): Promise<void> {
  const { deps, screen } = session;
  if (id !== "") {
    if (checkThreadId(id).kind === "invalid" || (await deps.store.header(id)) === undefined)
      return screen.aside(`There is no thread "${printable(id)}"; /new makes one.`);
    session.goTo(id);
    return screen.aside(`This is ${id} now.`);
  }
  const page = await deps.store.threads({ kind: "main", limit: 10 });
  if (page.threads.length === 0) return screen.aside("No threads yet.");
  const rows = page.threads.map(({ header, title, messages }) => [
    `${header.id === session.thread ? "*" : " "} ${header.id}`,
    String(messages),
    title ?? "",
  ]);
  await screen.line(table(["  thread", "messages", "title"], rows));
}

export async function newThread(session: Session, id: string): Promise<void> {
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

export async function unfold({ screen, uses }: Session): Promise<void> {
  if (uses.length === 0) return screen.aside("The last answer used no tools.");
  for (const { name, input, output } of uses) {
    await screen.line(`> ${name} ${printable(JSON.stringify(input) ?? "")}`);
    const text = typeof output === "string" ? output : (JSON.stringify(output, null, 2) ?? "");
    await screen.aside(text.split("\n").map(printable).join("\n"));
  }
}
