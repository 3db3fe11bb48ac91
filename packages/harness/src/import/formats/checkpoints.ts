/**
 * The history of a LangGraph thread: checkpoints that each hold all messages until then, newest first as
 * `getStateHistory` gives them. What they repeat is told apart from what they add. They are held until the file's end, each
 * message once: only then it is known which checkpoint is the last.
 */
import { isRecord } from "@palimpsest/core/internal/text";
import type { ImportedMessage } from "../conversation.ts";
import type { ImportPiece } from "../piece.ts";
import { saidAfter, waysOf } from "./branches.ts";
import { type FormatFields, listOf, piecesOf, wordsIn } from "./format.ts";

export interface Checkpoint {
  readonly id: string;
  readonly parent: string | null;
  /** Null where the dump doesn't say of which thread it is. */
  readonly thread: string | null;
  /** A subgraph has a namespace of its own. */
  readonly isRoot: boolean;
  /** What it has beside its messages. */
  readonly left: readonly string[];
}

/** As a graph, a saver, its table or LangGraph's server write it; null: the value is none. */
export function checkpointOf(value: FormatFields): Checkpoint | null {
  const stored = recordIn(value, "checkpoint");
  const values = [value["values"], value["channel_values"], stored["channel_values"]].find(isRecord);
  if (values === undefined) return null;
  const facts = [recordIn(recordIn(value, "config"), "configurable"), stored, value];
  const saved = "channel_values" in value ? value : stored;
  const id = firstWords(facts, "checkpoint_id") ?? wordsIn(saved["id"]);
  if (id === null) return null;
  const parents = ["parentConfig", "parent_config"].map((name) => recordIn(recordIn(value, name), "configurable"));
  return {
    id,
    parent:
      firstWords([...parents, recordIn(value, "parent_checkpoint")], "checkpoint_id") ??
      wordsIn(value["parent_checkpoint_id"]),
    thread: firstWords(facts, "thread_id"),
    isRoot: firstWords(facts, "checkpoint_ns") === null,
    left: leftOf(value, values),
  };
}

export interface CheckpointHistory {
  add(checkpoint: Checkpoint, messages: readonly ImportedMessage[], place: string): void;
  end(): Iterable<ImportPiece>;
}

interface HeldCheckpoint extends Checkpoint {
  readonly messages: readonly ImportedMessage[];
  readonly place: string;
}

export function checkpointHistory(): CheckpointHistory {
  const threads = new Map<string, HeldCheckpoint[]>();
  /** By what it is known by. */
  const known = new Map<string, ImportedMessage>();
  const versions = new Set<string>();
  const once = (message: ImportedMessage, left: string[]): ImportedMessage => {
    const key = identityOf(message);
    const first = known.get(key) ?? message;
    known.set(key, first);
    if (first.body !== message.body && !versions.has(message.body)) {
      versions.add(message.body);
      left.push("another version of a message, with the same id and words");
    }
    return first;
  };
  return {
    add(checkpoint, messages, place) {
      const left = [...checkpoint.left];
      const own = messages.map((message) => once(message, left));
      const key = checkpoint.thread === null ? `first ${own[0]?.body ?? ""}` : `thread ${checkpoint.thread}`;
      const held = threads.get(key) ?? [];
      held.push({ ...checkpoint, left, messages: own, place });
      threads.set(key, held);
    },
    *end() {
      for (const held of threads.values()) yield* threadOf(held);
    },
  };
}

/** The newest checkpoint is the thread; what others say beside it are forks. */
function* threadOf(held: readonly HeldCheckpoint[]): Iterable<ImportPiece> {
  const [last, ...others] = newestFirst(held);
  const { messages, place } = last!;
  const left = held.flatMap((checkpoint) => checkpoint.left);
  if (messages.length === 0) {
    for (const what of left) yield { kind: "left", place, what };
    return;
  }
  const { branches } = waysOf(
    saidAfter(null, messages),
    others.map((other) => saidAfter(null, other.messages)),
  );
  yield* piecesOf({ conversation: { messages }, branches, left }, place);
}

/** LangGraph itself takes the greatest id for the newest; where ids say nothing, a checkpoint follows its parent. */
function newestFirst(held: readonly HeldCheckpoint[]): readonly HeldCheckpoint[] {
  const places = new Map(held.map(({ id }, index) => [id, index]));
  const isOldestFirst = held.some(({ parent }, index) => parent !== null && (places.get(parent) ?? index) < index);
  const ordered = held.every(({ id }) => UUID.test(id))
    ? held.toSorted((one, other) => (one.id < other.id ? 1 : one.id > other.id ? -1 : 0))
    : isOldestFirst
      ? held.toReversed()
      : held;
  // The thread's own state says how it ended, not a subgraph's, and not one without messages.
  const rank = ({ isRoot, messages }: HeldCheckpoint): number => (messages.length === 0 ? 2 : isRoot ? 0 : 1);
  return ordered.toSorted((one, other) => rank(one) - rank(other));
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The same id and the same words are the same message; one that was edited keeps its id, and is another. */
function identityOf({ value, body }: ImportedMessage): string {
  const fields = [value["data"], value["kwargs"]].find(isRecord) ?? value;
  const id = wordsIn(fields["id"]);
  return id === null ? body : JSON.stringify([id, fields["content"], fields["tool_calls"]]);
}

function leftOf(value: FormatFields, values: FormatFields): readonly string[] {
  const names = Object.keys(values).filter((name) => name !== "messages" && !OWN_CHANNEL.test(name));
  const interrupts = listOf(value["tasks"]).flatMap((task) => listOf(task["interrupts"]));
  const writes = [value["pendingWrites"], value["pending_writes"]].filter(Array.isArray).flat();
  return [
    ...names.map((name) => `the state's value ${JSON.stringify(name)}`),
    ...interrupts.map(() => "an interrupt of a task"),
    ...writes.map(() => "a write that was pending"),
  ];
}

/** Channels by which a graph steers itself. */
const OWN_CHANNEL = /^(?:__|branch:|start:)/;

const recordIn = (value: FormatFields, name: string): FormatFields => {
  const inner = value[name];
  return isRecord(inner) ? inner : {};
};

const firstWords = (values: readonly FormatFields[], name: string): string | null =>
  values.map((value) => wordsIn(value[name])).find((words) => words !== null) ?? null;
