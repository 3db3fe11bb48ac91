/**
 * A recorded conversation ready to be priced: messages, when they came, what was reported, and a token count fitted to the
 * report where there is one. Reads both kinds of file: sessions (one message a line) and dialogs (one conversation a line).
 */
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/message";
import { charsPerToken, createMeter, type Meter } from "@palimpsest/core/tokens";
import { readData } from "../bench.ts";
import { readSession, type SessionLine } from "../session.ts";

export interface Turn {
  readonly message: OpenAiMessage;
  readonly at: number;
  /** Tokens the provider reported for producing it; null where it didn't. */
  readonly output: number | null;
}

export interface Transcript {
  readonly name: string;
  readonly turns: readonly Turn[];
  readonly meter: Meter<OpenAiMessage>;
  /** System prompt and tools that aren't among the messages. */
  readonly fixedTokens: number;
}

const CHARACTERS_PER_TOKEN = 3.3;

export function readTranscripts(
  path: string | undefined,
  usage: string,
): { whole: Transcript[]; segments: Transcript[] } {
  const text = readData(path, usage);
  if (isDialog(text)) return { whole: dialogs(text), segments: [] };
  const lines = readSession(path, usage).filter((line) => line.kind === "message");
  const fit = fitTo(lines);
  const segments = [...new Set(lines.map((line) => line.segment))];
  const make = (name: string, part: readonly MessageLine[]): Transcript => ({ name, turns: part.map(turn), ...fit });
  return {
    whole: [make("whole", lines)],
    segments: segments.map((id) =>
      make(
        `segment ${id}`,
        lines.filter((line) => line.segment === id),
      ),
    ),
  };
}

/** A line of a dialog file holds a whole conversation; a broken line is reported by whoever reads the file as a session. */
function isDialog(text: string): boolean {
  try {
    return "messages" in (JSON.parse(text.split("\n", 1)[0]!) as object);
  } catch {
    return false;
  }
}

type MessageLine = Extract<SessionLine, { kind: "message" }>;

function turn(line: MessageLine): Turn {
  return { message: line.message as OpenAiMessage, at: Date.parse(line.at) || 0, output: line.usage?.output ?? null };
}

function dialogs(text: string): Transcript[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line, index) => {
    const { messages } = JSON.parse(line) as { messages: OpenAiMessage[] };
    // No clock in these files: half a minute between messages.
    const turns = messages.map((message, at): Turn => ({ message, at: at * 30_000, output: null }));
    return { name: `dialog ${index + 1}`, turns, meter: counter(CHARACTERS_PER_TOKEN), fixedTokens: 0 };
  });
}

/** Characters per token from the growth the provider reported, and what it counted before the first message. */
function fitTo(lines: readonly MessageLine[]): { meter: Meter<OpenAiMessage>; fixedTokens: number } {
  let said = 0;
  let pending = 0;
  let tokens = 0;
  let last: MessageLine | null = null;
  for (const line of lines) {
    const input = line.usage?.input ?? 0;
    if (input > 0) {
      const grown = last === null ? 0 : input - last.usage!.input;
      if (last !== null && grown > 0 && last.segment === line.segment) {
        said += pending;
        tokens += grown;
      }
      last = line;
      pending = 0;
    }
    pending += characters.message(line.message as OpenAiMessage);
  }
  const perToken = tokens > 1000 ? said / tokens : CHARACTERS_PER_TOKEN;
  const firstReport = lines.findIndex((line) => (line.usage?.input ?? 0) > 0);
  const before = lines
    .slice(0, Math.max(0, firstReport))
    .reduce((sum, line) => sum + characters.message(line.message as OpenAiMessage), 0);
  const fixedTokens =
    firstReport < 0 ? 0 : Math.max(0, Math.round(lines[firstReport]!.usage!.input - before / perToken));
  return { meter: counter(perToken), fixedTokens };
}

function counter(perToken: number): Meter<OpenAiMessage> {
  return createMeter(openaiShape, { counter: charsPerToken(perToken) });
}

const characters = createMeter(openaiShape, { counter: charsPerToken(1) });
