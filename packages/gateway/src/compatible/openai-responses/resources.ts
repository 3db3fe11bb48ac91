/** What OpenAI's API has beside asking: responses by their id, conversations and their items. All of it from the log. */
import { ProblemError } from "../../http/problem.ts";
import type { CompatibleCall, CompatibleDeps } from "../call.ts";
import { answerWith } from "../counting.ts";
import { policyOf } from "../policy.ts";
import { compactNow } from "./compact-route.ts";
import { createItems, deleteItem, listItems, retrieveItem } from "./conversation-items.ts";
import { isConversationId } from "./conversation-threads.ts";
import { createConversation, deleteConversation, retrieveConversation, updateConversation } from "./conversations.ts";
import type { HeldCall } from "./held-call.ts";
import { isOurId } from "./response-ids.ts";
import { cancelResponse, deleteResponse, listInput, retrieveResponse } from "./responses.ts";

type Work = (held: HeldCall, ...ids: string[]) => Promise<unknown>;

/** Method and path; ids are what stands for `*`. The answer is written unless the work has done so. */
const ROUTES: readonly (readonly [string, string, Work])[] = [
  ["POST", "/responses/compact", compactNow],
  ["GET", "/responses/*", retrieveResponse],
  ["DELETE", "/responses/*", deleteResponse],
  ["POST", "/responses/*/cancel", cancelResponse],
  ["GET", "/responses/*/input_items", listInput],
  ["POST", "/conversations", createConversation],
  ["GET", "/conversations/*", retrieveConversation],
  ["POST", "/conversations/*", updateConversation],
  ["DELETE", "/conversations/*", deleteConversation],
  ["POST", "/conversations/*/items", createItems],
  ["GET", "/conversations/*/items", listItems],
  ["GET", "/conversations/*/items/*", retrieveItem],
  ["DELETE", "/conversations/*/items/*", deleteItem],
];

/** False: it is none of these, or names what only OpenAI knows. */
export async function serveHeld(call: CompatibleCall, deps: CompatibleDeps): Promise<boolean> {
  const parts = call.path.split("/").map(decoded);
  const route = ROUTES.find(([method, path]) => method === call.method && idsIn(path, parts) !== null);
  if (route === undefined || call.threads.store.matches === undefined || !isServed(call, deps)) return false;
  const ids = idsIn(route[1], parts)!;
  const isForeign = ids[0] !== undefined && !isOurId(ids[0]) && !isConversationId(ids[0]);
  if (isForeign && hasVendor(deps)) return false;
  const secret = Buffer.from(await deps.secret());
  const answer = await route[2]({ call, deps, secret, query: new URLSearchParams(call.search) }, ...ids);
  if (answer !== undefined) answerWith(call, answer);
  return true;
}

function isServed({ headers, caller }: CompatibleCall, { settings }: CompatibleDeps): boolean {
  const { mode, compaction } = policyOf(headers, settings, caller.userId);
  return mode === "on" && compaction !== "native";
}

const hasVendor = ({ settings }: CompatibleDeps): boolean =>
  settings.models.some(({ provider, base_url }) => provider === "openai" && base_url == null);

function idsIn(path: string, parts: readonly string[]): string[] | null {
  const pattern = path.split("/");
  if (pattern.length !== parts.length) return null;
  const ids: string[] = [];
  for (const [index, name] of pattern.entries()) {
    const part = parts[index]!;
    if (name === "*" && part !== "") ids.push(part);
    else if (name !== part) return null;
  }
  return ids;
}

/** A part of a path as it was before it was encoded. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new ProblemError(400, "invalid", "the path is not well formed");
  }
}
