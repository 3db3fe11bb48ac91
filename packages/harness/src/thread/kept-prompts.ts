/** The texts that a log names by their hashes (`store.prompts`): which they are, and how they go with erased words. */
import { isQuoted } from "@palimpsest/core/internal/log";
import type { LogRecord } from "@palimpsest/core/log";
import type { PromptText, Store } from "../stores/store.ts";

/** The hashes that a record names. */
export function namedPrompts(record: LogRecord): readonly string[] {
  if (record.kind !== "event" || record.event.type !== "request") return [];
  const { stored } = record.event as { stored?: unknown };
  return typeof stored === "object" && stored !== null ? Object.values(stored).filter(isText) : [];
}

export async function readPrompts({ prompts }: Store, hashes: readonly string[]): Promise<PromptText[]> {
  const texts: PromptText[] = [];
  for (const hash of new Set(hashes)) {
    const text = await prompts?.get(hash);
    if (text !== undefined) texts.push({ hash, text });
  }
  return texts;
}

/** A text that repeats the words goes whole: with a hole in it, it would be shown as if it had been sent like that. */
export async function erasePrompts({ prompts }: Store, words: readonly string[]): Promise<void> {
  if (prompts === undefined || words.length === 0) return;
  const quoting = (await prompts.list()).filter(({ text }) => isQuoted(text, words));
  if (quoting.length > 0) await prompts.drop(quoting.map(({ hash }) => hash));
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
