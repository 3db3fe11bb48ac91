/**
 * How much one key may ask for: requests a minute, and requests at once. Counted in this process; a minute's worth may
 * be used in one go and then comes back evenly.
 */
export interface LimitSettings {
  /** Null: no limit. */
  readonly requestsPerMinute: number | null;
  readonly running: number | null;
}

export type Taken =
  | { readonly kind: "taken"; release(): void }
  | { readonly kind: "limited"; readonly by: "requests" | "running"; readonly retryAfterSeconds: number };

export interface Limits {
  /** `key`: whose account it goes on. */
  take(key: string): Taken;
}

interface Account {
  /** When all that was asked for would have been, at an even pace. */
  until: number;
  running: number;
}

export function createLimits({ requestsPerMinute, running }: LimitSettings, clock: () => number): Limits {
  const accounts = new Map<string, Account>();
  const pace = requestsPerMinute === null ? 0 : MINUTE_MS / requestsPerMinute;
  return {
    take(key) {
      const now = clock();
      const account = accounts.get(key) ?? { until: now, running: 0 };
      accounts.set(key, account);
      // A clock that was set back makes nobody wait longer than a minute.
      const until = Math.min(Math.max(account.until, now), now + MINUTE_MS);
      const wait = until + pace - MINUTE_MS - now;
      if (wait > 0) return { kind: "limited", by: "requests", retryAfterSeconds: Math.ceil(wait / 1000) };
      if (running !== null && account.running >= running)
        return { kind: "limited", by: "running", retryAfterSeconds: 1 };
      account.until = until + pace;
      account.running += 1;
      let held = true;
      return {
        kind: "taken",
        release() {
          if (held) account.running -= 1;
          held = false;
        },
      };
    },
  };
}

const MINUTE_MS = 60_000;
