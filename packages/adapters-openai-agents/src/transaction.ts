/**
 * The runner's transactions on a session: each is applied once, however often it comes, and all of it or nothing. The log
 * remembers what was applied in the same write.
 */
import { isDeepStrictEqual } from "node:util";
import {
  type AgentInputItem,
  type SessionHistoryTransaction,
  type SessionHistoryTransactionArgs,
  UserError,
} from "@openai/agents-core";
import type { NamedConversation } from "palimpsest/internal/threads";
import type { RecordInput, Writer } from "palimpsest/session";
import { cutEnd, messageInputs } from "./history.ts";
import { goOn, say } from "./write.ts";

/** Throws a `UserError`, and changes nothing, for a transaction that isn't what was applied under its name, or doesn't fit. */
export async function applyTransaction(
  deps: NamedConversation,
  writer: Writer,
  { operationId, transaction: given }: SessionHistoryTransactionArgs,
): Promise<void> {
  if (operationId.trim() === "") throw new UserError("a transaction needs an operationId that isn't empty");
  const { threadId } = writer.lease;
  // As the log will store it: without what JSON can't hold.
  const transaction: SessionHistoryTransaction = JSON.parse(JSON.stringify(given));
  const key = `operation:${operationId}`;
  const digest = deps.hash(spelled(transaction));
  const applied = (await deps.store.head(threadId))?.state[key];
  if (applied === digest) return;
  if (applied !== undefined)
    throw new UserError(`${key} was applied with another transaction: each needs an operationId of its own`);
  const inputs = (items: readonly AgentInputItem[]): readonly RecordInput[] => [
    ...messageInputs(items, (at) => `${operationId}:${at}`),
    { kind: "state", patch: { [key]: digest } },
  ];
  if (transaction.type === "append_items") return say(writer, inputs(transaction.items));
  const { expectedSuffix, replacement } = transaction;
  const cut = await cutEnd(deps.store, threadId, expectedSuffix.length);
  if (!isDeepStrictEqual(cut?.items ?? [], expectedSuffix))
    throw new UserError(`session ${deps.name} no longer ends with what the transaction ${operationId} replaces`);
  const { keep, say: before } = cut?.continuation ?? { keep: 0, say: [] };
  return goOn(deps, writer, { keep, say: [...before, ...inputs(replacement)] });
}

/** The same text for the same transaction, in whatever order its fields stand. */
function spelled(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}
