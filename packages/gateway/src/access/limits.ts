/**
 * How much one key may ask for: requests and tokens a minute, and requests at once. Counted in this process; a minute's
 * worth may be used in one go and then comes back evenly. What a request costs in tokens is known when it has ended:
 * the one that goes over is answered, and the next ones wait until that much has come back.
 */
export interface LimitSettings {
  /** Null: no limit. */
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly running: number | null;
}

export type Taken =
  | { readonly kind: "taken"; release(): void }
  | { readonly kind: "limited"; readonly by: LimitKind; readonly retryAfterSeconds: number };

export type LimitKind = "requests" | "tokens" | "running";

export interface Limits {
  /** `key`: whose account it goes on. */
  take(key: string): Taken;
  /** Tokens that a request of the key has cost, in and out. */
  spend(key: string, tokens: number): void;
}

interface Account {
  /** When all that was asked for would have been, at an even pace. */
  until: number;
  /** The same for tokens. */
  tokensUntil: number;
  running: number;
}

export function createLimits(settings: LimitSettings, clock: () => number): Limits {
  const { requestsPerMinute, tokensPerMinute, running } = settings;
  const accounts = new Map<string, Account>();
  const pace = paceOf(requestsPerMinute);
  const tokenPace = paceOf(tokensPerMinute);
  const accountOf = (key: string, now: number): Account => {
    const account = accounts.get(key) ?? { until: now, tokensUntil: now, running: 0 };
    accounts.set(key, account);
    // A clock that was set back makes nobody wait longer than a minute, or an hour for tokens.
    account.until = Math.min(Math.max(account.until, now), now + MINUTE_MS);
    account.tokensUntil = Math.min(Math.max(account.tokensUntil, now), now + HOUR_MS);
    return account;
  };
  return {
    take(key) {
      const now = clock();
      const account = accountOf(key, now);
      const wait = account.until + pace - MINUTE_MS - now;
      if (wait > 0) return limited("requests", wait);
      const tokenWait = account.tokensUntil - MINUTE_MS - now;
      if (tokenWait > 0) return limited("tokens", tokenWait);
      if (running !== null && account.running >= running) return limited("running", 1000);
      account.until += pace;
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
    spend(key, tokens) {
      accountOf(key, clock()).tokensUntil += tokens * tokenPace;
    },
  };
}

function paceOf(perMinute: number | null): number {
  return perMinute === null ? 0 : MINUTE_MS / perMinute;
}

function limited(by: LimitKind, waitMs: number): Taken {
  return { kind: "limited", by, retryAfterSeconds: Math.ceil(waitMs / 1000) };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
