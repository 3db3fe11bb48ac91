/** Questions to a person at a terminal. */
import type { Context } from "../command/command.ts";

/** Whether somebody is there to answer. */
export function canAsk(format: Context["format"]): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && format === "text";
}

export async function ask(question: string, signal: AbortSignal): Promise<string> {
  const { createInterface } = await import("node:readline/promises");
  const keyboard = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await keyboard.question(question, { signal });
  } finally {
    keyboard.close();
  }
}

export function isYes(answer: string): boolean {
  return /^\s*y(?:es)?\s*$/i.test(answer);
}
