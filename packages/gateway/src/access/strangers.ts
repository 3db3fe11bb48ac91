/**
 * Whoever comes with a provider's key that no provider has accepted yet. Such a key may be made up: nothing is written for
 * it until a provider has answered it once, and its requests are limited by the address they come from and for all
 * strangers together, since a new key costs nothing.
 */
import { isIPv6 } from "node:net";
import { createLimits, type LimitSettings, type Limits, type Taken } from "./limits.ts";

export interface Strangers {
  /** Whether a provider has accepted the user's key, as far as it is known here. */
  isAccepted(userId: string): boolean;
  accept(userId: string): void;
  /** For a request of somebody who isn't. */
  take(address: string | null): Taken;
  /** By address and of all, for gateways that count together. */
  readonly counted: readonly Limits[];
}

export interface StrangerLimits {
  readonly ofAddress: Omit<LimitSettings, "tokensPerMinute">;
  readonly ofAll: Omit<LimitSettings, "tokensPerMinute">;
}

/** Most users that are remembered; one that is forgotten is accepted again by its next answer. */
const MOST = 100_000;

export function createStrangers({ ofAddress, ofAll }: StrangerLimits, clock: () => number): Strangers {
  const accepted = new Set<string>();
  const addresses = createLimits({ ...ofAddress, tokensPerMinute: null }, clock);
  const all = createLimits({ ...ofAll, tokensPerMinute: null }, clock);
  return {
    counted: [addresses, all],
    isAccepted: (userId) => accepted.has(userId),
    accept(userId) {
      accepted.add(userId);
      if (accepted.size > MOST) accepted.delete(accepted.values().next().value!);
    },
    take(address) {
      // The address first: one that has had its share must not use up the others'.
      const own = addresses.take(`address ${networkOf(address)}`);
      if (own.kind === "limited") return own;
      const common = all.take("all strangers");
      if (common.kind === "limited") {
        own.release();
        return common;
      }
      return {
        kind: "taken",
        // Strangers pay for their own tokens.
        spend() {},
        release() {
          own.release();
          common.release();
        },
      };
    },
  };
}

/** Of IPv6 the network: one machine has as many addresses in it as it likes. */
export function networkOf(address: string | null): string {
  if (address === null) return "unknown";
  const [plain = ""] = address.replace(/^::ffff:(?=\d+\.)/i, "").split("%");
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = plain.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array<string>(zeros).fill("0"), ...after];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
