/** What a request asks of Anthropic's own server beside an answer: to hold its thread, to clear or summarize what is old. Pure. */
import { type Fields, listIn } from "../vendor.ts";

export interface Asked {
  readonly thread: ThreadAsked | null;
  /** Null: `context_management` isn't there. */
  readonly edits: readonly Edit[] | null;
  /** A summary is asked for instead of an answer. */
  readonly summarize: { readonly instructions: string | null } | null;
}

type ThreadAsked = { readonly type: "create" } | { readonly type: "continue"; readonly previousId: string };

export type Edit = ClearToolUses | ClearThinking | Compact;

export interface ClearToolUses {
  readonly type: "clear_tool_uses_20250919";
  readonly trigger: { readonly type: "input_tokens" | "tool_uses"; readonly value: number };
  /** Newest tool uses that stay. */
  readonly keep: number;
  readonly clearAtLeast: number;
  readonly excluded: readonly string[];
  /** Whose inputs go as well. */
  readonly inputs: "none" | "all" | readonly string[];
}

export interface ClearThinking {
  readonly type: "clear_thinking_20251015";
  /** Newest turns that keep theirs. */
  readonly keep: number;
}

interface Compact {
  readonly type: "compact_20260112";
  readonly trigger: number;
  readonly instructions: string | null;
  readonly pause: boolean;
}

export type ReadAsked =
  | { readonly kind: "asked"; readonly asked: Asked }
  | { readonly kind: "problem"; readonly message: string };

/** Throws nothing: what can't be meant is a problem in words. */
export function readAsked(body: Fields): ReadAsked {
  try {
    const thread = threadIn(body["thread"]);
    const edits = editsIn(body["context_management"]);
    const summarize = summarizeIn(body["compaction"]);
    if (summarize !== null && edits !== null)
      throw new BadParameter("compaction: cannot be combined with `context_management`");
    return { kind: "asked", asked: { thread, edits, summarize } };
  } catch (error) {
    if (error instanceof BadParameter) return { kind: "problem", message: error.message };
    throw error;
  }
}

class BadParameter extends Error {}

function threadIn(value: unknown): ThreadAsked | null {
  if (value == null) return null;
  const { type, previous_message_id: previousId } = objectIn(value, "thread");
  if (type === "create") return { type };
  if (type !== "continue") throw new BadParameter("thread.type: must be `create` or `continue`");
  if (typeof previousId !== "string" || previousId === "")
    throw new BadParameter("thread.previous_message_id: Field required");
  return { type, previousId };
}

function summarizeIn(value: unknown): Asked["summarize"] {
  if (value == null) return null;
  const { type, instructions } = objectIn(value, "compaction");
  if (type !== "summarize") throw new BadParameter("compaction.type: must be `summarize`");
  return { instructions: textIn(instructions, "compaction.instructions") };
}

function editsIn(value: unknown): readonly Edit[] | null {
  if (value == null) return null;
  const { edits } = objectIn(value, "context_management");
  if (edits != null && !Array.isArray(edits)) throw new BadParameter("context_management.edits: must be a list");
  const read = listIn(edits).map((edit, index) => editIn(edit, `context_management.edits.${index}`));
  const types = read.map(({ type }) => type);
  const twice = types.find((type, index) => types.indexOf(type) !== index);
  if (twice !== undefined) throw new BadParameter(`context_management.edits: \`${twice}\` is there more than once`);
  return read;
}

function editIn(value: unknown, at: string): Edit {
  const fields = objectIn(value, at);
  switch (fields["type"]) {
    case "clear_tool_uses_20250919":
      return toolUsesIn(fields, at);
    case "clear_thinking_20251015":
      return { type: "clear_thinking_20251015", keep: thinkingKept(fields["keep"], `${at}.keep`) };
    case "compact_20260112":
      return {
        type: "compact_20260112",
        trigger:
          numberOf(fields["trigger"], { at: `${at}.trigger`, types: ["input_tokens"], least: 1 })?.value ?? 150_000,
        instructions: textIn(fields["instructions"], `${at}.instructions`),
        pause: fields["pause_after_compaction"] === true,
      };
    default:
      throw new BadParameter(
        `${at}.type: ${JSON.stringify(fields["type"])} is not carried out here; X-Palimpsest-Compaction: native leaves it to the vendor`,
      );
  }
}

function toolUsesIn(fields: Fields, at: string): ClearToolUses {
  const trigger = numberOf(fields["trigger"], {
    at: `${at}.trigger`,
    types: ["input_tokens", "tool_uses"],
    least: 0,
  });
  const { clear_tool_inputs: inputs, exclude_tools: excluded } = fields;
  return {
    type: "clear_tool_uses_20250919",
    trigger: trigger ?? { type: "input_tokens", value: 100_000 },
    keep: numberOf(fields["keep"], { at: `${at}.keep`, types: ["tool_uses"], least: 0 })?.value ?? 3,
    clearAtLeast:
      numberOf(fields["clear_at_least"], { at: `${at}.clear_at_least`, types: ["input_tokens"], least: 0 })?.value ?? 0,
    excluded: namesIn(excluded ?? [], `${at}.exclude_tools`),
    inputs:
      inputs == null || inputs === false
        ? "none"
        : inputs === true
          ? "all"
          : namesIn(inputs, `${at}.clear_tool_inputs`),
  };
}

function thinkingKept(value: unknown, at: string): number {
  if (value === "all" || (value as Fields | null)?.["type"] === "all") return Number.POSITIVE_INFINITY;
  return numberOf(value, { at, types: ["thinking_turns"], least: 1 })?.value ?? 1;
}

interface Expected<T extends string> {
  readonly at: string;
  readonly types: readonly T[];
  readonly least: number;
}

function numberOf<T extends string>(value: unknown, { at, types, least }: Expected<T>) {
  if (value == null) return null;
  const { type, value: given } = objectIn(value, at);
  const known = types.find((one) => one === type);
  if (known === undefined)
    throw new BadParameter(`${at}.type: must be ${types.map((one) => `\`${one}\``).join(" or ")}`);
  if (!Number.isInteger(given) || (given as number) < least)
    throw new BadParameter(`${at}.value: must be a whole number of at least ${least}`);
  return { type: known, value: given as number };
}

function namesIn(value: unknown, at: string): readonly string[] {
  if (!Array.isArray(value) || value.some((name) => typeof name !== "string"))
    throw new BadParameter(`${at}: must be a list of tool names`);
  return value;
}

/** White space alone counts as absent. */
function textIn(value: unknown, at: string): string | null {
  if (value == null) return null;
  if (typeof value !== "string") throw new BadParameter(`${at}: must be a text`);
  return value.trim() === "" ? null : value;
}

function objectIn(value: unknown, at: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new BadParameter(`${at}: must be an object`);
  return value as Fields;
}
