import { ProblemError } from "../../http/problem.ts";
import type { Exchange } from "../exchange.ts";
import type { UpstreamAnswer } from "../wire/upstream.ts";

export async function convertedAnswer<M extends object>(
  { target }: Exchange<M>,
  _messages: readonly M[],
  _signal: AbortSignal,
): Promise<UpstreamAnswer> {
  throw new ProblemError(501, "not-yet", `the model ${target.entry.name} can't be asked through this endpoint`);
}
