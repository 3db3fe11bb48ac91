/** Calls to tools of ours in an answer, and the results that are written for them. */
import type { CallPart } from "@palimpsest/core/message";
import { parseFields } from "../../http/read-json.ts";
import type { ClaimedRequest, ParsedRequest } from "../request.ts";
import type { ReadAnswer } from "../vendor.ts";

/** Times that the provider is asked again in one request. */
export const MOST_ROUNDS = 8;

/** Calls to tools of ours in an answer that is whole, and how many to the client's stand beside them. */
export function ownCalls<M extends object>(
  { vendor: { shape } }: Pick<ParsedRequest<M>, "vendor">,
  { tools }: Pick<ClaimedRequest<M>, "tools">,
  { message, state }: ReadAnswer<M>,
): { readonly own: readonly CallPart[]; readonly others: number } {
  const isWhole = state === "ending" || state === "ended";
  if (tools === null || message === null || !isWhole) return { own: [], others: 0 };
  const calls = shape.parts(message).filter((part) => part.kind === "call");
  const own = calls.filter(({ name }) => tools.byName.has(name));
  return { own, others: calls.length - own.length };
}

/** The log has messages that the client doesn't send: from here on the provider gets ours. */
export const ADDED = { state: { addedMessages: true } };

/** Results as messages that no client has sent. */
export async function ownResults<M extends object>(
  parsed: ParsedRequest<M>,
  turn: ClaimedRequest<M>,
  { said, isLast = false }: { readonly said: ReadAnswer<M>; readonly isLast?: boolean },
) {
  const results = [];
  for (const { id, name, input } of ownCalls(parsed, turn, said).own) {
    const text = await turn.tools!.byName.get(name)!.execute(parseFields(input === "" ? "{}" : input));
    results.push({ id, name, text: isLast ? `${text}\n${LIMIT}` : text, isError: false });
  }
  return parsed.vendor.shape.results(results).map((message) => ({ message, origin: "injected" as const }));
}

const LIMIT = `[The limit of ${MOST_ROUNDS} rounds with these tools in one request is reached. Answer now, without them.]`;
