/**
 * Makes any list of messages valid for a rule set and says what it did. Nothing a person, a model or a tool said is lost:
 * what can't stay in its place is joined, moved or quoted. Messages with nothing wrong come back as the same objects.
 */
import { pairUp } from "./pairing.ts";
import { isBlank, isContent, isForeignTo, type RuleName, type RuleSet, sameTurn, violations } from "./rules.ts";
import type { Part, Shape } from "./shape.ts";

export interface Repair {
  readonly kind:
    | "system-hoisted"
    | "reasoning-removed"
    | "blank-removed"
    | "empty-dropped"
    | "text-added"
    | "result-synthesized"
    | "result-moved"
    | "result-quoted"
    | "duplicate-dropped"
    | "call-renamed"
    | "content-moved"
    | "reasoning-moved"
    | "user-added"
    | "joined";
  /** The message's place in the list that was given. */
  readonly index: number;
  readonly detail: string;
}

export interface Repaired<M> {
  readonly messages: readonly M[];
  readonly repairs: readonly Repair[];
  /** For each message, where what it begins with stood in the list that was given; -1 for one that was added. */
  readonly origins: readonly number[];
}

/** A message on its way through the passes, and where it stood at first. */
export interface Item<M> {
  readonly message: M;
  readonly at: number;
}

/** What a pass works with. */
export interface RepairContext<M> {
  readonly shape: Shape<M>;
  readonly set: RuleSet;
  note(kind: Repair["kind"], index: number, detail: string): void;
}

export function repair<M>(messages: readonly M[], shape: Shape<M>, set: RuleSet): Repaired<M> {
  if (violations(messages, shape, set).length === 0) return { messages, repairs: [], origins: [...messages.keys()] };
  return mend(messages, shape, set);
}

/** The same for a list that breaks one of the rules. */
export function mend<M>(messages: readonly M[], shape: Shape<M>, set: RuleSet): Repaired<M> {
  const repairs: Repair[] = [];
  const context: RepairContext<M> = {
    shape,
    set,
    note: (kind, index, detail) => repairs.push({ kind, index, detail }),
  };
  let items: readonly Item<M>[] = messages.map((message, at) => ({ message, at }));
  for (const [rule, pass] of PASSES) {
    if (set.rules.includes(rule)) items = pass(items, context);
  }
  return { messages: items.map((item) => item.message), repairs, origins: items.map(({ at }) => at) };
}

type Pass = <M>(items: readonly Item<M>[], context: RepairContext<M>) => readonly Item<M>[];

/** In this order a later pass never breaks what an earlier one mended. */
const PASSES: readonly (readonly [RuleName, Pass])[] = [
  ["one-system", hoistSystem],
  ["reasoning-signed", removeForeignReasoning],
  ["no-blank-text", removeBlankText],
  ["no-empty-message", fillOrDropEmpty],
  ["paired", pairUp],
  ["reasoning-first", moveReasoning],
  ["reasoning-leads", moveLastReasoning],
  ["has-messages", addMessage],
  ["user-first", addUserFirst],
  ["alternate", joinTurns],
  ["ends-with-request", addRequest],
];

/** The place of a message that was in no list. */
const ADDED = -1;

const STUB = {
  start: "(The beginning of this conversation is not shown.)",
  request: "Continue.",
  answer: "(no text)",
};

function hoistSystem<M>(items: readonly Item<M>[], { shape, note }: RepairContext<M>): readonly Item<M>[] {
  const isSystem = ({ message }: Item<M>) => shape.role(message) === "system";
  const late = items.filter((item, index) => index > 0 && isSystem(item));
  if (late.length === 0) return items;
  for (const { at } of late) note("system-hoisted", at, "a system message joined the one in front");
  const text = late
    .flatMap(({ message }) => shape.parts(message).map(plainText))
    .filter(Boolean)
    .join("\n\n");
  const rest = items.filter((item) => !isSystem(item));
  const first = items[0]!;
  if (!isSystem(first)) return [{ message: shape.turn("system", text), at: late[0]!.at }, ...rest];
  return [{ ...first, message: appendText(first.message, text, shape) }, ...rest];
}

function appendText<M>(message: M, text: string, shape: Shape<M>): M {
  const parts = shape.parts(message);
  const last = parts.at(-1);
  if (last?.kind !== "text") return shape.join(message, shape.turn("system", text));
  return shape.withPart(message, parts.length - 1, { kind: "text", text: `${last.text}\n\n${text}` });
}

const plainText = (part: Part): string => ("text" in part ? part.text : part.kind === "other" ? part.json : "");

function removeForeignReasoning<M>(
  items: readonly Item<M>[],
  { shape, set, note }: RepairContext<M>,
): readonly Item<M>[] {
  const isForeign = isForeignTo(set);
  return items.map((item) => {
    const reduced = without(item.message, isForeign, shape);
    if (reduced !== item.message) note("reasoning-removed", item.at, "reasoning that the provider has not signed");
    return { ...item, message: reduced };
  });
}

function removeBlankText<M>(items: readonly Item<M>[], { shape, note }: RepairContext<M>): readonly Item<M>[] {
  return items.map((item) => {
    const reduced = without(item.message, isBlank, shape);
    if (reduced !== item.message) note("blank-removed", item.at, "blank text");
    return { ...item, message: reduced };
  });
}

function without<M>(message: M, unwanted: (part: Part) => boolean, shape: Shape<M>): M {
  const parts = shape.parts(message);
  if (!parts.some(unwanted)) return message;
  return shape.select(
    message,
    parts.flatMap((part, index) => (unwanted(part) ? [] : [index])),
  );
}

/** Thinking left alone goes to the assistant message it led to, or gets a word to stand beside. */
function fillOrDropEmpty<M>(items: readonly Item<M>[], { shape, note }: RepairContext<M>): readonly Item<M>[] {
  const has = (item: Item<M> | undefined, wanted: (part: Part) => boolean) =>
    item !== undefined && shape.parts(item.message).some(wanted);
  const nonEmpty = items.filter((item) => {
    const keep = has(item, (part) => part.kind === "reasoning" || isContent(part));
    if (!keep) note("empty-dropped", item.at, "a message with nothing in it");
    return keep;
  });
  const filled: Item<M>[] = [];
  for (const item of nonEmpty) {
    const before = filled.at(-1);
    if (before === undefined || has(before, isContent)) filled.push(item);
    else filled.splice(-1, 1, ...settle(before, item));
  }
  const last = filled.at(-1);
  if (last !== undefined && !has(last, isContent)) filled.splice(-1, 1, spoken(last));
  return filled;

  function settle(thinking: Item<M>, next: Item<M>): readonly Item<M>[] {
    if (shape.role(thinking.message) !== "assistant" || shape.role(next.message) !== "assistant") {
      return [spoken(thinking), next];
    }
    note("joined", next.at, "joined with the thinking before it");
    return [{ message: shape.join(thinking.message, next.message), at: thinking.at }];
  }

  function spoken(item: Item<M>): Item<M> {
    note("text-added", item.at, "a message of thinking alone");
    return { ...item, message: shape.join(item.message, shape.turn("assistant", STUB.answer)) };
  }
}

function moveReasoning<M>(items: readonly Item<M>[], { shape, note }: RepairContext<M>): readonly Item<M>[] {
  return items.map((item) => {
    const kinds = shape.parts(item.message).map((part) => part.kind);
    const call = kinds.indexOf("call");
    const late = kinds.flatMap((kind, index) => (call >= 0 && index > call && kind === "reasoning" ? [index] : []));
    if (late.length === 0) return item;
    note("reasoning-moved", item.at, "reasoning moved before the calls");
    const rest = [...kinds.keys()].filter((index) => !late.includes(index));
    return { ...item, message: shape.select(item.message, rest.toSpliced(rest.indexOf(call), 0, ...late)) };
  });
}

function moveLastReasoning<M>(items: readonly Item<M>[], { shape, note }: RepairContext<M>): readonly Item<M>[] {
  return items.map((item) => {
    const kinds = shape.parts(item.message).map((part) => part.kind);
    const last = kinds.findLastIndex((kind) => kind !== "reasoning");
    if (last < 0 || last === kinds.length - 1) return item;
    note("reasoning-moved", item.at, "reasoning moved before what it led to");
    const order = [...kinds.keys()];
    return { ...item, message: shape.select(item.message, [...order.toSpliced(last, 1), last]) };
  });
}

function addMessage<M>(items: readonly Item<M>[], { shape, note }: RepairContext<M>): readonly Item<M>[] {
  if (items.some(({ message }) => shape.role(message) !== "system")) return items;
  note("user-added", 0, "there was no message");
  return [...items, { message: shape.turn("user", STUB.request), at: ADDED }];
}

function addUserFirst<M>(items: readonly Item<M>[], { shape, note }: RepairContext<M>): readonly Item<M>[] {
  const start = items.findIndex(({ message }) => shape.role(message) !== "system");
  const first = items[start];
  if (first === undefined || shape.role(first.message) === "user") return items;
  note("user-added", first.at, "the conversation has to start with a user turn");
  return items.toSpliced(start, 0, { message: shape.turn("user", STUB.start), at: ADDED });
}

function joinTurns<M>(items: readonly Item<M>[], { shape, note }: RepairContext<M>): readonly Item<M>[] {
  const turns: Item<M>[][] = [];
  for (const item of items) {
    const turn = turns.at(-1);
    if (turn === undefined || !sameTurn(turn[0]!.message, item.message, shape)) turns.push([item]);
    else {
      note("joined", item.at, "joined with the message before it");
      turn.push(item);
    }
  }
  return turns.map((turn) => ({
    ...turn[0]!,
    message: joinAll(
      turn.map(({ message }) => message),
      shape,
    ),
  }));
}

/** Each join copies what is joined already: a long run is joined in groups, and these again. */
function joinAll<M>(messages: readonly M[], shape: Shape<M>): M {
  if (messages.length <= JOINED_AT_ONCE) return messages.reduce((joined, next) => shape.join(joined, next));
  const groups = Array.from({ length: Math.ceil(messages.length / JOINED_AT_ONCE) }, (_, index) =>
    joinAll(messages.slice(index * JOINED_AT_ONCE, (index + 1) * JOINED_AT_ONCE), shape),
  );
  return joinAll(groups, shape);
}

const JOINED_AT_ONCE = 64;

function addRequest<M>(items: readonly Item<M>[], { shape, note }: RepairContext<M>): readonly Item<M>[] {
  const last = items.at(-1);
  if (last !== undefined && ["user", "tool"].includes(shape.role(last.message))) return items;
  note("user-added", last?.at ?? 0, "the list has to end with a request");
  return [...items, { message: shape.turn("user", STUB.request), at: ADDED }];
}
