/**
 * A compaction as Anthropic's clients carry it: a block that they send back unread. Ours has the summary as readable text,
 * and as its encrypted content a signed pointer to the place in the thread that it stands for: whoever sends it back goes on
 * there, and nothing of what it stands for is lost. One that we did not make is somebody else's and passes. Pure.
 */
import { timingSafeEqual } from "node:crypto";
import type { ThreadHeader } from "@palimpsest/core/log";
import type { AnthropicBlock, AnthropicMessage } from "@palimpsest/core/message";
import { keyed, type Secret } from "../matching/chain.ts";
import { signPointer } from "../pointers/pointer.ts";
import type { Fields } from "../vendor.ts";

/** `summary`: it was asked for, and stands first from then on. `edit`: it was made on the way, and stands where it was made. */
export type BlockKind = "summary" | "edit";

const MARKS: Readonly<Record<BlockKind, string>> = { summary: "pals_", edit: "pale_" };

/** What a pointer in a block of this kind is signed for. */
export const signedFor = (kind: BlockKind): string => `compaction-${kind}`;

export interface BlockPlace {
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
): Fields {
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

export function kindOfBlock(block: Fields): BlockKind | null {
  const { type, encrypted_content: encrypted } = block;
  if (type !== "compaction" || typeof encrypted !== "string") return null;
  return encrypted.startsWith(MARKS.summary) ? "summary" : encrypted.startsWith(MARKS.edit) ? "edit" : null;
}

export type BlockProblem =
  | "compaction_block_ambiguous"
  | "compaction_block_misplaced"
  | "compaction_content_mismatch"
  | "compaction_signature_invalid"
  | "compaction_tool_changes_mismatch";

/** The pointer in it, if the block is as we gave it away; whose it is says the pointer. */
export function readBlock(
  block: Fields,
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
      readonly block: Fields;
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
  const first = messages.findIndex(({ role }) => (role as string) !== "system");
  if (summaries.some(({ index, at }) => index !== first || at !== 0))
    return { kind: "problem", code: "compaction_block_misplaced" };
  if (places.some(({ role }) => role !== "assistant")) return { kind: "problem", code: "compaction_block_misplaced" };
  const content = blocksOf(messages[last.index]!).slice(last.at + 1) as unknown as AnthropicBlock[];
  const own = content.length === 0 ? [] : [{ ...messages[last.index]!, content }];
  return { kind: "block", block: last.block, by: last.by, rest: [...own, ...messages.slice(last.index + 1)] };
}

function blocksOf({ content }: AnthropicMessage): readonly Fields[] {
  return typeof content === "string" ? [] : (content as unknown as readonly Fields[]);
}

/** More than these a block does not record. */
export const MOST_TOOL_CHANGES = 128;

/** The last change of each tool that came or went in the middle of the conversation. */
export function toolChangesIn(messages: readonly AnthropicMessage[], before: readonly unknown[]): readonly unknown[] {
  const changes = new Map<string, unknown>();
  const note = (block: Fields): void => {
    if (block["type"] !== "tool_addition" && block["type"] !== "tool_removal") return;
    const tool = block["tool"] as Fields | undefined;
    const definition = tool?.["definition"] as Fields | undefined;
    changes.set(String(tool?.["name"] ?? definition?.["name"] ?? JSON.stringify(tool)), block);
  };
  for (const block of before) note(block as Fields);
  for (const message of messages) for (const block of blocksOf(message)) note(block);
  return [...changes.values()];
}
