/** `POST /responses/compact`: the conversation that the request names or brings, compacted in the log. */
import { ProblemError } from "../../http/problem.ts";
import { converseWith } from "../converse.ts";
import { readExchange } from "../exchange.ts";
import { compactionOf } from "./compact.ts";
import type { HeldCall } from "./held-call.ts";
import { holdResponses } from "./hold.ts";
import { openaiResponses } from "./vendor.ts";

export async function compactNow({ call, deps, secret }: HeldCall): Promise<undefined> {
  const read = await readExchange(call, deps, openaiResponses);
  if (read.kind === "problem") throw new ProblemError(400, "invalid", read.message);
  const exchange = await holdResponses(read.exchange);
  const { held } = exchange;
  if (held === null) throw new ProblemError(400, "invalid", "what it names is not held here");
  await converseWith({
    ...exchange,
    held: { ...held, instead: (begun, thread) => compactionOf(exchange, { begun, thread, secret }) },
  });
  return undefined;
}
