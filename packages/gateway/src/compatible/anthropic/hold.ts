/**
 * A request of the Messages API that is served from the log: `thread` and compaction blocks say where it goes on,
 * `context_management` and `compaction` what is done about its length. Nothing of these is handed on.
 */
import { type AnthropicMessage, anthropicShape } from "@palimpsest/core/internal/message";
import { ProblemError } from "../../http/problem.ts";
import { type JsonFields, listIn } from "../../http/read-json.ts";
import type { ServerThread, ServerThreadPlace } from "../answer.ts";
import type { Secret } from "../match.ts";
import { pointedPlace } from "../pointer.ts";
import { lengthRule } from "../policy.ts";
import type { ParsedRequest } from "../request.ts";
import type { VendorRequest } from "../vendor.ts";
import { type RequestedEdits, readAsked } from "./edits.ts";
import { namedMessage } from "./named-message.ts";
import {
  type FoundBlock,
  findBlock,
  MOST_TOOL_CHANGES,
  placeOfMessage,
  readBlock,
  refused,
  requestOfThread,
  signedFor,
  systemOutline,
  systemText,
  toolChangesIn,
} from "./server-state.ts";

type HeldMessages = ParsedRequest<AnthropicMessage>;

const WITHHELD = ["thread", "context_management", "compaction"] as const;

export async function holdMessages(parsed: HeldMessages): Promise<HeldMessages> {
  const { body, policy, request, deps } = parsed;
  const isServed = lengthRule(policy).vendors === "serve";
  const read = readAsked(isServed ? body : { thread: body["thread"] });
  if (read.kind === "problem") throw new ProblemError(400, "invalid", read.message);
  const { asked } = read;
  const isPlain = Object.values(asked).every((one) => one === null);
  // A long history is not gone through for a block that its bytes don't name.
  if (isPlain && !parsed.bytes.includes('"compaction"')) return parsed;
  const all = [...(request.leading as readonly AnthropicMessage[]), ...request.messages];
  const found = findBlock(all);
  if (found.kind === "problem") throw refused(found.code);
  if (isPlain && found.kind === "none") return parsed;
  assertTogether(asked, found);
  const secret = Buffer.from(await deps.secret());
  const place = await placeOf(parsed, { asked, found, secret });
  if (place === null && asked.thread?.type === "continue") throw refused("thread_not_found");
  const held = await withRequest(parsed, { asked, found, place, all });
  if (asked.summarize !== null) assertSummarizable(held.request.messages, asked.thread === null ? null : place);
  const before = found.kind === "block" ? listIn(found.block["tool_changes"]) : [];
  const toolChanges = toolChangesIn(all, before);
  if (asked.summarize !== null && toolChanges.length > MOST_TOOL_CHANGES)
    throw refused("compaction_too_many_tool_references");
  const outline = asked.thread === null ? null : systemOutline(held.body["system"]);
  const withheld = WITHHELD.filter((name) => body[name] != null && (isServed || name === "thread"));
  const serving: ServerThread<AnthropicMessage> = {
    place,
    sideCall: "no",
    withheld,
    threshold: null,
    tools: "none",
    lasts: "while-heard",
    instead: null,
    unread: asked.summarize === null ? null : refused("compaction_unavailable"),
    begin: (begun) => namedMessage(held, { asked, secret, begun, toolChanges, outline, from: place?.threadId ?? null }),
  };
  return { ...held, held: serving };
}

/** Called when server-side state is off here. Throws if the request needs it and the model is another vendor's. */
export function leaveMessages({ body, target }: HeldMessages): void {
  if (body["thread"] != null && target.way === "converted") throw refused("thread_unsupported_request");
}

/** With a block that was asked for, no other compaction on the way: they would be about the same messages. */
function assertTogether({ edits, thread }: RequestedEdits, found: FoundBlock): void {
  if (found.kind !== "block") return;
  if (thread?.type === "continue") throw refused("compaction_block_misplaced");
  if (found.by === "summary" && edits?.some(({ type }) => type === "compact_20260112"))
    throw new ProblemError(400, "invalid", "a `compaction` block cannot be combined with a `compact_20260112` edit");
}

/** `thread`: where a thread goes on that is summarized with what comes now. */
function assertSummarizable(messages: readonly AnthropicMessage[], thread: ServerThreadPlace | null): void {
  const said = messages.filter((message) => anthropicShape.role(message) !== "system");
  const isEmpty = said.every(({ content }) => content.length === 0);
  if (isEmpty && thread === null) throw refused("compaction_nothing_to_summarize");
  const last = said.at(-1);
  const calls = last?.role === "assistant" ? anthropicShape.calls(last).length : 0;
  if ((last === undefined ? thread!.state.calls.size : calls) > 0) throw refused("compaction_incomplete_turn");
}

interface BlockFinding {
  readonly asked: RequestedEdits;
  readonly found: FoundBlock;
  readonly secret: Secret;
}

async function placeOf(
  { call }: HeldMessages,
  { asked, found, secret }: BlockFinding,
): Promise<ServerThreadPlace | null> {
  const { store } = call.threads;
  if (asked.thread?.type === "continue") return placeOfMessage(store, asked.thread.previousId, secret);
  if (found.kind !== "block") return null;
  const block = readBlock(found.block, secret);
  if (block.kind === "problem") throw refused(block.code);
  const place = await pointedPlace(store, block.token, { secret, kind: signedFor(found.by) });
  if (place === null) throw refused("compaction_signature_invalid");
  return place;
}

interface Placed extends Omit<BlockFinding, "secret"> {
  readonly place: ServerThreadPlace | null;
  readonly all: readonly AnthropicMessage[];
}

/** With what the thread was created with, and with the messages that come after its place. */
async function withRequest(parsed: HeldMessages, { asked, found, place, all }: Placed): Promise<HeldMessages> {
  const { request, body, call } = parsed;
  const messages = found.kind === "block" ? found.rest : all;
  // A thread keeps its own beginning: a client that goes on with it doesn't send it again.
  const own = asked.thread !== null || place !== null ? { leading: [], messages } : {};
  const read: VendorRequest<AnthropicMessage> = { ...request, ...own, reference: null };
  if (asked.thread?.type !== "continue") return { ...parsed, request: read };
  const kept = await requestOfThread(call.threads.store, place!);
  if (kept === null) throw refused("thread_not_found");
  const { system, tools } = kept;
  const changed = [
    ...(body["system"] != null && JSON.stringify(body["system"]) !== JSON.stringify(system) ? ["`system`"] : []),
    ...(body["tools"] != null && JSON.stringify(body["tools"]) !== JSON.stringify(tools) ? ["`tools`"] : []),
  ];
  if (changed.length > 0) throw refused("thread_fingerprint_mismatch", changed.join(" and "));
  const whole: JsonFields = { ...body, ...(system !== undefined && { system }), ...(tools.length > 0 && { tools }) };
  return {
    ...parsed,
    body: whole,
    bytes: Buffer.from(JSON.stringify(whole)),
    request: { ...read, system: systemText(system), tools },
  };
}
