/**
 * Limits that several gateways count together: once a second each books what was used there and learns what stands on the
 * account. Over a minute this is exact; within a second a key may get on each gateway what that one doesn't know to be used
 * up elsewhere. A store that doesn't answer holds nobody up: each gateway then counts for itself until it does.
 */
import type { SharedLimits } from "palimpsest/stores";
import type { RequestLimits } from "./limits.ts";

const SETTLE_MS = 1000;
/** A gateway that wasn't heard of for three of these is gone. */
const BEATS = 10;

/** `counted`: no two of them have an account of the same name. */
export function keepSettled(
  counted: readonly RequestLimits[],
  shared: SharedLimits,
  instance: string,
): { stop(): Promise<void> } {
  let gateways = 1;
  let rounds = 0;
  const round = async (): Promise<void> => {
    if (rounds % BEATS === 0) gateways = await shared.beat(instance, "gateway");
    rounds += 1;
    for (const limits of counted) await settleOnce(limits, shared, { instance, gateways });
  };
  let current = round().catch(() => {});
  const timer = setInterval(() => {
    current = current.then(() => round().catch(() => {}));
  }, SETTLE_MS);
  timer.unref();
  return {
    stop() {
      clearInterval(timer);
      return current;
    },
  };
}

async function settleOnce(
  limits: RequestLimits,
  shared: Pick<SharedLimits, "settle">,
  { instance, gateways }: { readonly instance: string; readonly gateways: number },
): Promise<void> {
  const uses = limits.uses();
  try {
    limits.settle(uses.length === 0 ? [] : await shared.settle(instance, uses), gateways);
  } catch (error) {
    limits.owe(uses);
    throw error;
  }
}
