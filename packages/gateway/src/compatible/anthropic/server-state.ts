/**
 * A compaction as Anthropic's clients carry it: a block that they send back unread. Ours has the summary as readable text,
 * and as its encrypted content a signed pointer to the place in the thread up to which it summarizes. A request with the
 * block continues at that place, so the log keeps every message. Blocks made by others are passed on. Pure.
 */

import { timingSafeEqual } from "node:crypto";
import type { MessageRecord, ThreadHeader } from "@palimpsest/core/internal/log";
import {
  type AnthropicBlock,
  type AnthropicMessage,
  anthropicShape,
  parseMessage,
} from "@palimpsest/core/internal/message";
import type { ThreadPrompt } from "palimpsest/session";
import type { Store } from "palimpsest/stores";
import { ProblemError } from "../../http/problem.ts";
import { fieldsOf, type JsonFields, listIn } from "../../http/read-json.ts";
import type { ServerThreadPlace } from "../answer.ts";
import { keptRequest } from "../find.ts";
import { chainOf, chainStateAt, keyed, type Secret } from "../match.ts";
import { findPointed, type Pointer, signPointer } from "../pointer.ts";

/** `summary`: it was asked for, and stands first from then on. `edit`: it was made on the way, and stands where it was made. */
export type BlockKind = "summary" | "edit";

const MARKS: Readonly<Record<BlockKind, string>> = { summary: "pals_", edit: "pale_" };

/** What a pointer in a block of this kind is signed for. */
export const signedFor = (kind: BlockKind): string => `compaction-${kind}`;

interface BlockPlace {
  readonly seq: number;
  /** What the conversation is known by there. */
  readonly hash: string;
  readonly text: string;
  readonly toolChanges: readonly unknown[];
}

export function compactionBlock(
  header: ThreadHeader,
  { seq, hash, text, toolChanges }: BlockPlace,
  { kind, secret }: { readonly kind: BlockKind; readonly secret: Secret },
): JsonFields {
  const encrypted = MARKS[kind] + signPointer(header, { seq, salt: hash }, { secret, kind: signedFor(kind) });
  const signature = partsOf(encrypted, { content: text, toolChanges, secret }).join("");
  return { type: "compaction", content: text, encrypted_content: encrypted, signature, tool_changes: toolChanges };
}

/** What it was signed over: that it is ours, its text, its tools. */
function partsOf(
  encrypted: string,
  {
    content,
    toolChanges,
    secret,
  }: { readonly content: string; readonly toolChanges: unknown; readonly secret: Secret },
): readonly [string, string, string] {
  const part = (name: string, value: unknown) => keyed(secret, JSON.stringify(["block", name, encrypted, value]));
  return [part("place", null), part("content", content), part("tools", toolChanges ?? [])];
}

export function kindOfBlock(block: JsonFields): BlockKind | null {
  const { type, encrypted_content: encrypted } = block;
  if (type !== "compaction" || typeof encrypted !== "string") return null;
  return encrypted.startsWith(MARKS.summary) ? "summary" : encrypted.startsWith(MARKS.edit) ? "edit" : null;
}

type BlockProblem =
  | "compaction_block_ambiguous"
  | "compaction_block_misplaced"
  | "compaction_content_mismatch"
  | "compaction_signature_invalid"
  | "compaction_tool_changes_mismatch";

/** The pointer in it, if the block is as we gave it away; whose it is says the pointer. */
export function readBlock(
  block: JsonFields,
  secret: Secret,
): { readonly kind: "pointer"; readonly token: string } | { readonly kind: "problem"; readonly code: BlockProblem } {
  const { encrypted_content: encrypted, content, signature, tool_changes: toolChanges } = block;
  if (typeof encrypted !== "string" || typeof content !== "string" || typeof signature !== "string")
    return { kind: "problem", code: "compaction_signature_invalid" };
  const [place, text, tools] = partsOf(encrypted, { content, toolChanges, secret });
  const given = (index: number) => signature.slice(index * place.length, (index + 1) * place.length);
  if (signature.length !== place.length * 3 || !isSame(given(0), place))
    return { kind: "problem", code: "compaction_signature_invalid" };
  if (!isSame(given(1), text)) return { kind: "problem", code: "compaction_content_mismatch" };
  if (!isSame(given(2), tools)) return { kind: "problem", code: "compaction_tool_changes_mismatch" };
  return { kind: "pointer", token: encrypted.slice(MARKS.summary.length) };
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

export type FoundBlock =
  | { readonly kind: "none" }
  | {
      readonly kind: "block";
      readonly block: JsonFields;
      readonly by: BlockKind;
      readonly rest: readonly AnthropicMessage[];
    }
  | { readonly kind: "problem"; readonly code: BlockProblem };

/** The block of ours that the messages go on from, and what comes after it. Blocks without content are no-ops. */
export function findBlock(messages: readonly AnthropicMessage[]): FoundBlock {
  const places = messages.flatMap((message, index) =>
    blocksOf(message).flatMap((block, at) => {
      const by = typeof block["content"] === "string" ? kindOfBlock(block) : null;
      return by === null ? [] : [{ by, block, index, at, role: message.role }];
    }),
  );
  const last = places.at(-1);
  if (last === undefined) return { kind: "none" };
  const summaries = places.filter(({ by }) => by === "summary");
  if (summaries.length > 1) return { kind: "problem", code: "compaction_block_ambiguous" };
  const first = messages.findIndex(({ role }) => role !== "system");
  if (summaries.some(({ index, at }) => index !== first || at !== 0))
    return { kind: "problem", code: "compaction_block_misplaced" };
  if (places.some(({ role }) => role !== "assistant")) return { kind: "problem", code: "compaction_block_misplaced" };
  const content = blocksOf(messages[last.index]!).slice(last.at + 1) as unknown as AnthropicBlock[];
  const own = content.length === 0 ? [] : [{ ...messages[last.index]!, content }];
  return { kind: "block", block: last.block, by: last.by, rest: [...own, ...messages.slice(last.index + 1)] };
}

function blocksOf({ content }: AnthropicMessage): readonly JsonFields[] {
  return typeof content === "string" ? [] : (content as unknown as readonly JsonFields[]);
}

/** More than these a block does not record. */
export const MOST_TOOL_CHANGES = 128;

/** The last change of each tool that came or went in the middle of the conversation. */
export function toolChangesIn(messages: readonly AnthropicMessage[], before: readonly unknown[]): readonly unknown[] {
  const changes = new Map<string, unknown>();
  const note = (block: JsonFields): void => {
    if (block["type"] !== "tool_addition" && block["type"] !== "tool_removal") return;
    const { name, definition } = fieldsOf(block["tool"]);
    changes.set(String(name ?? fieldsOf(definition)["name"] ?? JSON.stringify(block["tool"])), block);
  };
  for (const block of before) note(fieldsOf(block));
  for (const message of messages) for (const block of blocksOf(message)) note(block);
  return [...changes.values()];
}

/*
 * Ids of answers in threads that are held here: pointers to where the log stood when the model was asked. The answer is the
 * record of that id behind it; of an answer that was only a compaction there is none, and the thread goes on right there.
 */

const PREFIX = "msg_";
/** `answer`: something was said. `place`: nothing was. */
export type IdKind = "answer" | "place";
const messageKind = (kind: IdKind): string => `message-${kind}`;
/** Tells two answers to one request apart. */
const UNIQUE = 8;

export function messageId(
  header: ThreadHeader,
  { seq, hash }: { readonly seq: number; readonly hash: string },
  { kind, secret, unique }: { readonly kind: IdKind; readonly secret: Secret; readonly unique: string },
): string {
  const salt = hash + unique.replaceAll("-", "").slice(0, UNIQUE);
  return PREFIX + signPointer(header, { seq, salt }, { secret, kind: messageKind(kind) });
}

/** Where the thread goes on that names its last answer; null: there is none of this id for the store's user. */
export async function placeOfMessage(store: Store, id: string, secret: Secret): Promise<ServerThreadPlace | null> {
  if (!id.startsWith(PREFIX)) return null;
  const token = id.slice(PREFIX.length);
  const said = await findPointed(store, token, { secret, kind: messageKind("answer") });
  if (said.kind === "found") {
    const answer = await answerBehind(store, { id, pointer: said.pointer, version: said.version });
    return answer === null ? null : behind(said.pointer, answer, secret);
  }
  const pointed = await findPointed(store, token, { secret, kind: messageKind("place") });
  if (pointed.kind === "not-found") return null;
  const { threadId, seq } = pointed.pointer;
  return { threadId, seq, state: stateAt(pointed.pointer), otherwise: "fork" };
}

const stateAt = ({ salt }: Pointer) => chainStateAt(salt.slice(0, -UNIQUE));

function behind(pointer: Pointer, answer: MessageRecord, secret: Secret): ServerThreadPlace {
  const message = parseMessage("anthropic", answer.body);
  const { state } = chainOf([message], { shape: anthropicShape, secret, from: stateAt(pointer) });
  return { threadId: pointer.threadId, seq: answer.seq, state, otherwise: "fork" };
}

/** The first message behind the place is its answer, or the request was never answered. */
async function answerBehind(
  store: Store,
  { id, pointer, version }: { readonly id: string; readonly pointer: Pointer; readonly version: number },
): Promise<MessageRecord | null> {
  if (version <= pointer.seq) return null;
  const query = { range: [pointer.seq + 1, version], kinds: ["message"] } as const;
  for await (const { record } of store.records(pointer.threadId, query))
    return record.kind === "message" && record.id === id ? record : null;
  return null;
}

/* What a thread was created with beside its messages: `continue` comes without system prompt and tools, and means these. */

/** Kept behind an answer where the system prompt stands in blocks. */
export const OUTLINE_EVENT = "system-outline";

interface ThreadRequest {
  /** Undefined: there is none. */
  readonly system: unknown;
  readonly tools: readonly unknown[];
}

/** How far behind an answer its outline may stand. */
const NEAR = 8;

/** As it stood at the answer; null: its words were erased. */
export async function requestOfThread(
  store: Store,
  { threadId, seq }: { readonly threadId: string; readonly seq: number },
): Promise<ThreadRequest | null> {
  const kept = await keptRequest(store, threadId, seq);
  if (kept === null) return null;
  return { system: systemFrom(await outlineAt(store, threadId, seq), kept.system), tools: kept.tools };
}

/** The newest up to there. */
async function outlineAt(store: Store, threadId: string, seq: number): Promise<SystemOutline> {
  const query = { range: [1, seq + NEAR], kinds: ["event"], order: "descending" } as const;
  for await (const { record } of store.records(threadId, query)) {
    const event = record.kind === "event" ? record.event : null;
    if (event?.type === OUTLINE_EVENT) return (event as JsonFields)["outline"] as SystemOutline;
    // An outline stands behind the request it belongs to.
    if (event?.type === "request" && record.seq <= seq) return null;
  }
  return null;
}

/*
 * A system prompt that stands in several blocks, without its words: the log keeps the words once, as one text, where they
 * can be erased; with this they become the same blocks again. Pure.
 */

/** Between the texts of blocks, where they stand as one. */
const BETWEEN = "\n\n";

export function systemText(system: unknown): string {
  if (typeof system === "string") return system;
  return listIn(system)
    .map((block) => String(fieldsOf(block)["text"] ?? ""))
    .join(BETWEEN);
}

/** Null: it is one text, or isn't there. Each block says how many characters are its own. */
export type SystemOutline = readonly (JsonFields & { readonly text: number })[] | null;

export function systemOutline(system: unknown): SystemOutline {
  if (!Array.isArray(system)) return null;
  return system.map((block: JsonFields) => ({ ...block, text: String(block["text"] ?? "").length }));
}

/** Undefined: there was none. */
function systemFrom(outline: SystemOutline, text: string): unknown {
  if (outline === null) return text === "" ? undefined : text;
  let from = 0;
  return outline.map((block) => {
    const own = text.slice(from, from + block.text);
    from += block.text + BETWEEN.length;
    return { ...block, text: own };
  });
}

/* Refusals in Anthropic's words and codes, for what is held here. The official client has a class for each code. */

/** The ones that are ever given; what is none of theirs has another code and stands under another name. */
export const ERROR_CODES = {
  thread_not_found: [
    404,
    'No thread was found for `previous_message_id`: it was never made here, is somebody else\'s, or was deleted. Replay the full conversation with `thread: {"type": "create"}`.',
  ],
  thread_unsupported_request: [
    400,
    "No thread is held for this request: its model is another vendor's and what would hold the thread here is off. Send the full conversation without `thread`.",
  ],
  thread_fingerprint_mismatch: [
    400,
    'differ from what the thread was created with. Leave them out, or replay the full conversation with `thread: {"type": "create"}`.',
  ],
  compaction_block_ambiguous: [
    400,
    "`messages` holds more than one `compaction` block. Send only the one that came last.",
  ],
  compaction_block_misplaced: [
    400,
    "The `compaction` block is not the first block of the conversation. Send it first, in an assistant message, in place of what it summarizes.",
  ],
  compaction_content_mismatch: [400, "The `compaction` block's `content` is not what it was given with."],
  compaction_incomplete_turn: [
    400,
    "The conversation ends with tool calls that have no results yet. Send their results, then compact.",
  ],
  compaction_nothing_to_summarize: [400, "`messages` holds nothing of a user or an assistant to summarize."],
  compaction_signature_invalid: [
    400,
    "The `compaction` block's `signature` does not verify: it was changed, is somebody else's, or its conversation was deleted.",
  ],
  compaction_too_many_tool_references: [
    400,
    "More tools came and went in this conversation than a `compaction` block can record.",
  ],
  compaction_tool_changes_mismatch: [400, "The `compaction` block's `tool_changes` are not what it was given with."],
  compaction_unavailable: [529, "The conversation can't be compacted at the moment. Try again."],
} as const satisfies Record<string, readonly [number, string]> & Record<BlockProblem, unknown>;

export type ErrorCode = keyof typeof ERROR_CODES;

export function refused(code: ErrorCode, about = ""): ProblemError {
  const [status, message] = ERROR_CODES[code];
  return new ProblemError(status, code, about === "" ? message : `${about} ${message}`);
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}

/* The readable text of a compaction that was asked for: the summary, and behind it what is still shown as it was said. Pure. */

/** Most characters of one message; the thread itself has all of it. */
const MOST = 4000;

export function wordForWord(
  summary: string | null,
  { messages, sources }: Pick<ThreadPrompt<AnthropicMessage>, "messages" | "sources">,
): string {
  const said = messages.flatMap((message, index) => (sources[index] === "message" ? [lineOf(message)] : []));
  return [
    ...(summary === null ? [] : [summary]),
    ...(said.length === 0 ? [] : ["Said last, word for word:", ...said]),
  ].join("\n\n");
}

function lineOf(message: AnthropicMessage): string {
  const texts = anthropicShape.parts(message).flatMap((part): string[] => {
    switch (part.kind) {
      case "text":
        return [part.text];
      case "call":
        return [`[calls ${part.name} with ${part.input}]`];
      case "result":
        return [`[result: ${part.text}]`];
      default:
        return [];
    }
  });
  const text = texts.join("\n");
  const shown = text.length > MOST ? `${text.slice(0, MOST / 2)}\n[...]\n${text.slice(-MOST / 2)}` : text;
  return `${message.role}: ${shown}`;
}
