/** /export: the thread as a file, as a person reads it (Markdown) or as it was given (JSON lines). */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ChatSession } from "./session.ts";
import { wordsOf } from "./thread-text.ts";

/** Never over a file that is there already. */
export async function exportThread(
  { assistant, deps, screen, threadId }: ChatSession,
  argument: string,
): Promise<void> {
  if ((await deps.store.header(threadId)) === undefined) return screen.aside("Nothing was said in this thread yet.");
  const file = resolve(argument === "" ? `${threadId}.md` : argument.replace(/^(["'])(.*)\1$/, "$2"));
  const asGiven = file.endsWith(".jsonl");
  const pieces: string[] = asGiven ? [] : [`# ${threadId}\n\n`];
  for await (const record of assistant.agent.thread(threadId).replay()) {
    const { role, text } = wordsOf(record);
    if (asGiven) pieces.push(`${record.body}\n`);
    else if (text.trim() !== "") pieces.push(`## ${role} (#${record.seq})\n\n${text.trim()}\n\n`);
  }
  try {
    await writeFile(file, pieces, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return screen.aside(`${file} is there already: /export FILE names another one.`);
  }
  await screen.aside(`Written to ${file}.`);
}
