/**
 * A session of Claude Code: JSON lines that name their parent. A line whose parent is not the end of what was said is a
 * fork; calls that were made together are not, though their results hang on different lines. Side chains are sub-agents.
 * Its compactions are marks: what they hid is read, and the summary stands in the mark.
 */

import { join } from "node:path";
import { isRecord } from "@palimpsest/core/internal/text";
import { readUsage, type Usage } from "../../models/facts.ts";
import type { ImportedMessage, ThreadSource } from "../conversation.ts";
import { memberSlices, withoutBreaks } from "../json-slices.ts";
import { type ImportPiece, openedThread } from "../piece.ts";
import { timeOf } from "../time.ts";
import { type Format, type FormatFields, listOf, type PieceReader, type PlacedValue, wordsIn } from "./format.ts";

export const claudeCode: Format = {
  id: "claude-code",
  name: "Claude Code session",
  dialect: "anthropic",
  folder: (env, home) => join(env["CLAUDE_CONFIG_DIR"] ?? join(home, ".claude"), "projects"),
  recognizes: (value) =>
    typeof value["uuid"] === "string" && "parentUuid" in value && typeof value["sessionId"] === "string",
  open: () => new ClaudeCodeSession(),
};

const PROGRAM = "claude-code";

/** A thread of the file while it is read. */
interface ClaudeCodeLine {
  readonly key: string;
  count: number;
  /** Where the last answer began, with the results of its calls: within it lines may hang on any other. */
  group: number;
  answer: string | null;
}

/** Where a line stands: how many messages there are with it. */
interface Spot {
  readonly line: ClaudeCodeLine;
  readonly count: number;
}

interface ClaudeCodeUsage {
  readonly key: string;
  readonly answer: string;
  readonly usage: Usage;
  readonly model: string | null;
}

class ClaudeCodeSession implements PieceReader {
  readonly #spots = new Map<string, Spot>();
  readonly #agents = new Map<string, ClaudeCodeLine>();
  #main: ClaudeCodeLine | null = null;
  /** A title that comes before anything is said. */
  #title: string | null = null;
  /** Where a line goes that names no parent that is known. */
  #current: ClaudeCodeLine | null = null;
  #forks = 0;
  /** An answer comes in several lines, each with a report: the last one counts. */
  #reported: ClaudeCodeUsage | null = null;

  *read(placed: PlacedValue): Iterable<ImportPiece> {
    const { value } = placed;
    const { type, uuid } = value;
    const isSaid = (type === "user" || type === "assistant") && isRecord(value["message"]);
    const mark = markOf(value);
    if (!isSaid && mark === null) {
      yield* this.#other(value);
      return;
    }
    const line: ClaudeCodeLine = yield* this.#lineFor(value, isSaid && mark === null);
    if (mark === null) yield* this.#message(line, placed);
    else {
      yield* this.end();
      yield { kind: "mark", key: line.key, event: mark };
    }
    if (typeof uuid === "string") this.#spots.set(uuid, { line, count: line.count });
  }

  *end(): Iterable<ImportPiece> {
    if (this.#reported === null) return;
    const { answer: _, ...usage } = this.#reported;
    this.#reported = null;
    yield { kind: "usage", ...usage };
  }

  /** A line without a message; what hangs on it hangs on its parent. */
  *#other(value: FormatFields): Iterable<ImportPiece> {
    const { uuid, parentUuid } = value;
    const parent = this.#spots.get(String(parentUuid ?? ""));
    if (typeof uuid === "string" && parent !== undefined) this.#spots.set(uuid, parent);
    const title = titleIn(value);
    const what = title === null ? leftIn(value) : null;
    if (title !== null && this.#main !== null) yield { kind: "title", key: this.#main.key, title };
    else if (title !== null) this.#title = title;
    if (what !== null) yield { kind: "left", place: "", what };
    yield { kind: "skipped" };
  }

  /** The thread that a line belongs to; emits a `thread` piece first if it is new. */
  *#lineFor(value: FormatFields, isSaid: boolean): Generator<ImportPiece, ClaudeCodeLine> {
    const parent = this.#spots.get(String(value["parentUuid"] ?? value["logicalParentUuid"] ?? ""));
    const agent = value["isSidechain"] === true ? agentOf(value, parent, this.#agents) : null;
    if (this.#main === null) {
      this.#main = newLine(agent ?? "session");
      this.#current = this.#main;
      const { key } = this.#main;
      yield openedThread(key, { source: sourceOf(value), title: this.#title });
      return this.#main;
    }
    if (agent !== null && agent !== this.#main.key) return yield* this.#agentLine(agent, this.#main.key);
    const { line, count } = parent ?? { line: this.#current!, count: this.#current!.count };
    this.#current = line;
    if (!isSaid || count === line.count || count > line.group) return line;
    this.#forks += 1;
    this.#current = { ...newLine(`session fork ${this.#forks}`), count, group: count };
    yield* this.end();
    const { key } = this.#current;
    yield openedThread(key, { fork: { of: line.key, after: count } });
    return this.#current;
  }

  /** Side chains don't fork. */
  *#agentLine(key: string, main: string): Generator<ImportPiece, ClaudeCodeLine> {
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    const line = newLine(key);
    this.#agents.set(key, line);
    yield openedThread(key, { childOf: main });
    return line;
  }

  *#message(line: ClaudeCodeLine, value: PlacedValue): Iterable<ImportPiece> {
    const said = value.value["message"] as FormatFields;
    const answer = value.value["type"] === "assistant" ? (wordsIn(said["id"]) ?? value.place) : null;
    if (this.#reported !== null && this.#reported.answer !== answer) yield* this.end();
    if (answer !== null ? answer !== line.answer : !isResult(said)) line.group = line.count;
    if (answer !== null || !isResult(said)) line.answer = answer;
    line.count += 1;
    const { usage, ...rest } = messageOf(value);
    yield { kind: "message", key: line.key, message: { ...rest, usage: null } };
    if (answer !== null && usage !== null) this.#reported = { key: line.key, answer, usage, model: rest.model };
  }
}

const newLine = (key: string): ClaudeCodeLine => ({ key, count: 0, group: 0, answer: null });

/** Newer lines name their agent; an older side chain is known by its first line. */
function agentOf(value: FormatFields, parent: Spot | undefined, agents: ReadonlyMap<string, ClaudeCodeLine>): string {
  const id = wordsIn(value["agentId"]);
  if (id !== null) return `agent ${id}`;
  if (parent !== undefined && agents.get(parent.line.key) === parent.line) return parent.line.key;
  return `agent ${String(value["uuid"]).slice(0, 8)}`;
}

function sourceOf(value: FormatFields): ThreadSource {
  const session = String(value["sessionId"] ?? "");
  const agent = value["isSidechain"] === true ? wordsIn(value["agentId"]) : null;
  return {
    program: PROGRAM,
    session: agent === null ? session : `${session}-agent-${agent}`,
    project: wordsIn(value["cwd"]),
    parent: agent === null ? null : session,
  };
}

/** The message keeps the text it has in the file. */
function messageOf({ value, text, place }: PlacedValue): ImportedMessage {
  const said = value["message"] as FormatFields;
  const model = wordsIn(said["model"]);
  return {
    place,
    body: withoutBreaks(memberSlices(text).get("message")!),
    value: said,
    at: timeOf(value["timestamp"]),
    model: model === "<synthetic>" ? null : model,
    usage: model === "<synthetic>" ? null : readUsage(said["usage"]),
  };
}

const isResult = ({ content }: FormatFields): boolean => listOf(content).some(({ type }) => type === "tool_result");

/** The line that ends what was shown before, and the summary that comes after it. */
function markOf(value: FormatFields) {
  const { type, subtype, compactMetadata: meta } = value;
  if (type === "system" && subtype === "compact_boundary") {
    const { trigger = null, preTokens: tokensBefore = null } = isRecord(meta) ? meta : {};
    return { type: "source-compacted", program: PROGRAM, trigger, tokensBefore } as const;
  }
  if (value["isCompactSummary"] !== true || !isRecord(value["message"])) return null;
  const { content } = value["message"];
  const blocks = listOf(content).flatMap(({ text }) => wordsIn(text) ?? []);
  const summary = typeof content === "string" ? content : blocks.join("\n\n");
  return { type: "source-compacted", program: PROGRAM, summary } as const;
}

const titleIn = ({ type, summary, aiTitle, customTitle }: FormatFields): string | null => {
  if (type === "summary") return wordsIn(summary);
  if (type === "ai-title") return wordsIn(aiTitle);
  return type === "custom-title" ? wordsIn(customTitle) : null;
};

/** Null for lines that say nothing. */
function leftIn({ type, subtype, attachment }: FormatFields): string | null {
  if (SILENT.includes(String(type))) return null;
  if (type === "system") return `a note of Claude Code (${String(subtype ?? "without a name")})`;
  if (type === "attachment" && isRecord(attachment)) return `an attachment (${String(attachment["type"])})`;
  return `a line of the type ${String(type)}`;
}

const SILENT = ["file-history-snapshot", "permission-mode", "mode", "turn_end"];
