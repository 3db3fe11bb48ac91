/**
 * A rollout of Codex: JSON lines of items of the Responses API, among events and the settings of each turn. Newer ones wrap
 * each item (`{type: "response_item", payload}`). Turns that were taken back stay where they were said, and what came
 * instead is a fork; a compaction of Codex's own is a mark, and what it hid is read.
 */

import { join } from "node:path";
import { isRecord } from "@palimpsest/core/internal/text";
import { readUsage } from "../../models/facts.ts";
import { type ImportedThread, type ImportPiece, openedThread } from "../piece.ts";
import { timeOf } from "../time.ts";
import {
  type Format,
  type FormatFields,
  madeMessage,
  type PieceReader,
  type PlacedValue,
  sourceOf,
  wordsIn,
} from "./format.ts";

const LINES = ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"];

export const codex: Format = {
  id: "codex",
  name: "Codex rollout",
  dialect: "openai-responses",
  folder: (env, home) => join(env["CODEX_HOME"] ?? join(home, ".codex"), "sessions"),
  recognizes: ({ type, payload }) => LINES.includes(String(type)) && isRecord(payload),
  open: () => new Rollout(),
};

class Rollout implements PieceReader {
  #key = "rollout";
  #model: string | null = null;
  #meta: FormatFields | null = null;
  #isOpen = false;
  #forks = 0;
  /** Of the branch that is being written: how many messages there are, and before which ones a user spoke. */
  #count = 0;
  #asked: number[] = [];
  /** Set until the first message after a rollback, which opens the fork. */
  #takenBack: { readonly of: string; readonly after: number } | null = null;

  *read({ value, place }: PlacedValue): Iterable<ImportPiece> {
    const payload: FormatFields = isRecord(value["payload"]) ? value["payload"] : {};
    switch (value["type"]) {
      case "turn_context":
        this.#model = wordsIn(payload["model"]) ?? this.#model;
        yield { kind: "skipped" };
        break;
      case "session_meta":
        this.#meta ??= payload;
        yield { kind: "skipped" };
        break;
      case "compacted":
        yield* this.#compacted(payload);
        break;
      case "event_msg":
        yield { kind: "skipped" };
        yield* this.#event(payload);
        break;
      case "response_item":
        yield* this.#item(payload, { place, at: timeOf(value["timestamp"]) });
        break;
      default:
        yield { kind: "left", place: "", what: `a line of the type ${String(value["type"])}` };
        yield { kind: "skipped" };
    }
  }

  *end(): Iterable<ImportPiece> {}

  *#open(): Iterable<ImportPiece> {
    if (!this.#isOpen) yield openedThread(this.#key, threadOf(this.#meta));
    this.#isOpen = true;
    if (this.#takenBack === null) return;
    this.#forks += 1;
    this.#key = `rollout fork ${this.#forks}`;
    yield openedThread(this.#key, { fork: this.#takenBack });
    this.#takenBack = null;
  }

  *#item(payload: FormatFields, facts: { readonly place: string; readonly at: string | null }): Iterable<ImportPiece> {
    if (payload["type"] === "ghost_snapshot") {
      yield { kind: "left", place: "", what: "a snapshot of the repository" };
      yield { kind: "skipped" };
      return;
    }
    yield* this.#open();
    if (payload["role"] === "user") this.#asked.push(this.#count);
    this.#count += 1;
    const message = madeMessage(itemOf(payload), { ...facts, model: this.#model });
    yield { kind: "message", key: this.#key, message };
  }

  *#compacted(payload: FormatFields): Iterable<ImportPiece> {
    yield* this.#open();
    const summary = wordsIn(payload["message"]);
    const event = { type: "source-compacted", program: "codex", ...(summary !== null && { summary }) } as const;
    yield { kind: "mark", key: this.#key, event };
  }

  *#event(payload: FormatFields): Iterable<ImportPiece> {
    const usage = usageOf(payload);
    if (usage !== null && this.#count > 0 && this.#takenBack === null)
      yield { kind: "usage", key: this.#key, usage, model: this.#model };
    const turns = payload["type"] === "thread_rolled_back" ? Number(payload["num_turns"]) : 0;
    if (!(turns > 0) || this.#count === 0) return;
    const after = this.#asked.at(-turns) ?? 0;
    this.#takenBack = { of: this.#takenBack?.of ?? this.#key, after };
    this.#count = after;
    this.#asked = this.#asked.filter((at) => at < after);
  }
}

function threadOf(meta: FormatFields | null): Pick<ImportedThread, "request" | "source"> {
  const { base_instructions, instructions, id, cwd, source } = meta ?? {};
  const system = wordsIn(isRecord(base_instructions) ? base_instructions["text"] : instructions);
  const spawned = isRecord(source) && isRecord(source["subagent"]) ? source["subagent"]["thread_spawn"] : null;
  const parent = isRecord(spawned) ? wordsIn(spawned["parent_thread_id"]) : null;
  return {
    request: system === null ? null : { system },
    source: sourceOf("codex", wordsIn(id), { project: wordsIn(cwd), parent }),
  };
}

/** Older versions wrote an output as an object. */
function itemOf(payload: FormatFields): FormatFields {
  const { output } = payload;
  if (!isRecord(output)) return payload;
  return { ...payload, output: typeof output["content"] === "string" ? output["content"] : JSON.stringify(output) };
}

/** What the provider reported for the answer before it. */
function usageOf({ type, info }: FormatFields) {
  const last = type === "token_count" && isRecord(info) ? info["last_token_usage"] : null;
  if (!isRecord(last)) return null;
  const usage = readUsage({ input_tokens: last["input_tokens"], output_tokens: last["output_tokens"] });
  const cacheRead = typeof last["cached_input_tokens"] === "number" ? last["cached_input_tokens"] : 0;
  return usage === null ? null : { ...usage, cacheRead };
}
