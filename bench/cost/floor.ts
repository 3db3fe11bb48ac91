/**
 * What a session would cost at least while everything but tool results stays: each result is read once, and gone for nothing
 * as soon as it is answered. No policy that keeps what the model wrote itself can be cheaper, whatever it is set to.
 */
import { openaiShape } from "@palimpsest/core/internal/message";
import type { Prices } from "@palimpsest/core/internal/pricing";
import type { Transcript } from "@palimpsest/lab";

export function floorWithoutResults({ turns, meter, fixedTokens }: Transcript, prices: Prices): number {
  let cost = 0;
  let cached = 0;
  let fresh = { kept: fixedTokens, results: 0 };
  for (const [index, { message, output }] of turns.entries()) {
    const tokens = meter.message(message);
    const role = openaiShape.role(message);
    if (role === "assistant" && index > 0) {
      cost += cached * prices.cacheRead + (fresh.kept + fresh.results) * prices.cacheWrite;
      cost += (output ?? tokens) * prices.output;
      cached += fresh.kept;
      fresh = { kept: 0, results: 0 };
    }
    fresh[role === "tool" ? "results" : "kept"] += tokens;
  }
  return cost;
}
