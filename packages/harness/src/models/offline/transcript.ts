/** The transcript in a summarizer's or memory's prompt, read back into who said what at which number. */
import type { AiSdkMessage } from "@palimpsest/core/message";
import { textOf } from "./situation.ts";

export interface Spoken {
  readonly seq: number;
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** The words between the transcript tags, without tool traffic; null when there is no transcript. */
export function spokenIn(prompt: string): readonly Spoken[] | null {
  const start = prompt.indexOf("<transcript>\n");
  const end = prompt.lastIndexOf("</transcript>");
  if (start === -1 || end < start) return null;
  const spoken: { seq: number; role: "user" | "assistant"; text: string }[] = [];
  let current: (typeof spoken)[number] | null = null;
  for (const line of prompt.slice(start + "<transcript>\n".length, end).split("\n")) {
    const head = /^\[#(\d+) ([^\]\n]*)\]$/.exec(line);
    if (head === null) {
      if (current !== null) current.text += `${line.replace(/^([ \t]*)\\(?=\\*\[#\d)/, "$1")}\n`;
      continue;
    }
    const [, seq, label] = head;
    current = label === "user" || label === "assistant" ? { seq: Number(seq), role: label, text: "" } : null;
    if (current !== null) spoken.push(current);
  }
  return spoken.map((piece) => ({ ...piece, text: piece.text.trim() }));
}

/** The conversation itself, where it stands before the request; its messages are numbered from 1. */
export function spokenBefore(messages: readonly AiSdkMessage[]): readonly Spoken[] {
  return messages.flatMap((message, index) => {
    const { role } = message;
    const text = textOf(message).trim();
    return (role === "user" || role === "assistant") && text !== "" ? [{ seq: index + 1, role, text }] : [];
  });
}
