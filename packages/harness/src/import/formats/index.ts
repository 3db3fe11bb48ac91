/** The formats that are recognized, and what a file that is none of them looks like. */
import { isRecord } from "@palimpsest/core/internal/text";
import { chatgpt } from "./chatgpt.ts";
import { claudeAi } from "./claude-ai.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import type { Format, PlacedValue } from "./format.ts";
import { geminiCli } from "./gemini-cli.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import { sharegpt } from "./sharegpt.ts";
import { uiMessages } from "./ui-messages.ts";

export const FORMATS: readonly Format[] = [
  chatgpt,
  claudeAi,
  claudeCode,
  codex,
  geminiCli,
  opencode,
  pi,
  sharegpt,
  uiMessages,
];

/** What the first values say; those of a log can begin with lines of any kind. */
export function formatOf(values: readonly PlacedValue[]): Format | null {
  return FORMATS.find(({ recognizes }) => values.some(({ value }) => recognizes(value))) ?? null;
}

/** For somebody whose file holds no message that is read: what it has, and what could be read. */
export function notRecognized(values: readonly unknown[]): string {
  const read = [
    "messages of OpenAI (chat and Responses), Anthropic, Gemini, LangChain and the AI SDK",
    ...FORMATS.map(({ name }) => name),
  ];
  const first = values.find(isRecord);
  const fields = first === undefined ? [] : Object.keys(first).slice(0, 8);
  const seen = fields.length === 0 ? "" : ` Its first object has the fields ${fields.join(", ")}.`;
  return `${seen} What can be read: ${read.join("; ")}.`.trim();
}
