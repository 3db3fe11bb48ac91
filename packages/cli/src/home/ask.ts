/** Questions to a person at a terminal. */
import type { Context } from "../command/command.ts";

/** Whether somebody is there to answer. */
export function canAsk(format: Context["format"]): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && format === "text";
}

export function ask(question: string, signal: AbortSignal): Promise<string> {
  return askSeveral(signal, (answer) => answer(question));
}

/** One keyboard for all questions: what is typed or pasted ahead answers the next one. */
export async function askSeveral<T>(
  signal: AbortSignal,
  work: (answer: (question: string) => Promise<string>) => Promise<T>,
): Promise<T> {
  const { createInterface } = await import("node:readline");
  const keyboard = createInterface({ input: process.stdin, output: process.stdout });
  const lines = keyboard[Symbol.asyncIterator]();
  const close = () => keyboard.close();
  signal.addEventListener("abort", close);
  try {
    return await work(async (question) => {
      keyboard.setPrompt(question);
      keyboard.prompt();
      const line = await lines.next();
      // Ctrl-C and Ctrl-D close the keyboard.
      if (line.done === true) throw new DOMException("nobody answers", "AbortError");
      return line.value;
    });
  } finally {
    signal.removeEventListener("abort", close);
    keyboard.close();
  }
}

export function isYes(answer: string): boolean {
  return /^\s*y(?:es)?\s*$/i.test(answer);
}
