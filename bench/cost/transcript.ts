/**
 * The sessions and dialogs that the cost bench prices: a session as a whole and in the segments that fitted one window when
 * it was recorded, dialogs each by itself.
 */
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import { charsPerToken, createMeter } from "@palimpsest/core/internal/tokens";
import type { Transcript, Turn } from "@palimpsest/lab";
import { fitTo } from "../../packages/lab/src/replay/transcript.ts";
import { readData } from "../bench.ts";
import { readSession, type SessionLine } from "../session.ts";

const CHARACTERS_PER_TOKEN = 3.3;

export function readTranscripts(
  path: string | undefined,
  usage: string,
): { whole: Transcript[]; segments: Transcript[] } {
  const text = readData(path, usage);
  if (isDialog(text)) return { whole: dialogs(text), segments: [] };
  const lines = readSession(path, usage).filter((line) => line.kind === "message");
  const fit = fitTo(
    lines.map((line) => ({
      message: line.message as OpenAiMessage,
      input: line.usage?.input ?? 0,
      segment: line.segment,
    })),
  );
  const segments = [...new Set(lines.map((line) => line.segment))];
  const make = (name: string, part: readonly MessageLine[]): Transcript => ({
    name,
    turns: part.map(turn),
    repairs: 0,
    questions: [],
    unasked: 0,
    ...fit,
  });
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

/** A line of a dialog file holds a whole conversation; a broken line is reported when the file is read as a session. */
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
    const meter = createMeter(openaiShape, { counter: charsPerToken(CHARACTERS_PER_TOKEN) });
    const turns = messages.map((message, at): Turn => ({ message, at: at * 30_000, output: null }));
    return {
      name: `dialog ${index + 1}`,
      turns,
      meter,
      fixedTokens: 0,
      repairs: 0,
      questions: [],
      unasked: 0,
    };
  });
}
