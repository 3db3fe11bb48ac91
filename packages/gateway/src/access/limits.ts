/**
 * How much one key may ask for: requests and tokens a minute, and requests at once. A minute's worth may be used in one go
 * and then comes back evenly. What a request costs in tokens is known when it has ended: until then it holds what it is
 * expected to cost, so that many at once don't get past the limit together. The one that goes over is answered, and the
 * next ones wait until that much has come back. Where several gateways count together, what was used here
 * is settled with the others now and then (`settled-limits.ts`); until then it counts as if each of them had used as much.
 */
import type { AccountState, AccountUse } from "palimpsest/stores";

export interface LimitSettings {
  /** Null: no limit. */
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly running: number | null;
}

export type Taken =
  | TakenPlace
  | { readonly kind: "limited"; readonly by: LimitKind; readonly retryAfterSeconds: number };

export interface TakenPlace {
  readonly kind: "taken";
  /** Tokens that the request has cost, in and out; also after its release. */
  spend(tokens: number): void;
  release(): void;
}

export type LimitKind = "requests" | "tokens" | "running";

export interface Limits {
  /** `key`: whose account it goes on. `expected`: tokens that it will probably cost; 0 where it asks no model. */
  take(key: string, expected?: number): Taken;
  /** What was used since the last time, to be settled; accounts at rest are left out. */
  uses(): readonly AccountUse[];
  /** What stands on the accounts, wherever it was used, and how many gateways count. */
  settle(states: readonly AccountState[], gateways: number): void;
  /** These could not be settled: they are owed still. */
  owe(uses: readonly AccountUse[]): void;
}

interface Account {
  /** When all that was asked for would have been, at an even pace. */
  until: number;
  /** The same for tokens. */
  tokensUntil: number;
  running: number;
  /** Of what runs here, what it is expected to cost still, in the time that it takes to come back. */
  reserved: number;
  /** What a request of this key has cost lately, in tokens. */
  typical: number;
  /** Of both, what the other gateways don't know of yet. */
  unsettled: number;
  unsettledTokens: number;
  /** Requests that run on other gateways. */
  elsewhere: number;
  /** Whether the others know that nothing runs here. */
  atRest: boolean;
}

export function createLimits(settings: LimitSettings, clock: () => number): Limits {
  return new KeyLimits(settings, clock);
}

class KeyLimits implements Limits {
  readonly #settings: LimitSettings;
  readonly #clock: () => number;
  readonly #accounts = new Map<string, Account>();
  readonly #pace: number;
  readonly #tokenPace: number;
  /** Other gateways, which may have used as much as is unsettled here. */
  #others = 0;

  constructor(settings: LimitSettings, clock: () => number) {
    this.#settings = settings;
    this.#clock = clock;
    this.#pace = paceOf(settings.requestsPerMinute);
    this.#tokenPace = paceOf(settings.tokensPerMinute);
  }

  take(key: string, expected = 0): Taken {
    const { running } = this.#settings;
    const now = this.#clock();
    const account = this.#account(key, now);
    const wait = account.until + this.#others * account.unsettled + this.#pace - MINUTE_MS - now;
    if (wait > 0) return limited("requests", wait);
    const tokenWait = account.tokensUntil + this.#others * account.unsettledTokens - MINUTE_MS - now;
    if (this.#tokenPace > 0 && tokenWait > 0) return limited("tokens", tokenWait);
    if (this.#tokenPace > 0 && expected > 0 && tokenWait + (1 + this.#others) * account.reserved > 0)
      return limited("tokens", 1000);
    if (running !== null && account.running + account.elsewhere >= running) return limited("running", 1000);
    account.until += this.#pace;
    account.unsettled += this.#pace;
    account.running += 1;
    account.atRest = false;
    return this.#place(key, account, expected === 0 ? 0 : Math.max(expected, account.typical));
  }

  #place(key: string, account: Account, expected: number): TakenPlace {
    let held = true;
    let spent = 0;
    let reserved = expected * this.#tokenPace;
    account.reserved += reserved;
    const give = (back: number): void => {
      reserved -= back;
      account.reserved -= back;
    };
    return {
      kind: "taken",
      spend: (tokens) => {
        const cost = tokens * this.#tokenPace;
        const now = this.#account(key, this.#clock());
        now.tokensUntil += cost;
        now.unsettledTokens += cost;
        spent += tokens;
        give(Math.min(cost, reserved));
      },
      release() {
        if (!held) return;
        held = false;
        account.running -= 1;
        give(reserved);
        if (spent > 0) account.typical += (spent - account.typical) * (account.typical === 0 ? 1 : NEWEST_SHARE);
      },
    };
  }

  uses(): readonly AccountUse[] {
    const { requestsPerMinute, tokensPerMinute, running } = this.#settings;
    if (requestsPerMinute === null && tokensPerMinute === null && running === null) return [];
    const active = [...this.#accounts].filter(([, account]) => !isSettled(account));
    return active.map(([key, account]): AccountUse => {
      const use = { requestsMs: account.unsettled, tokensMs: account.unsettledTokens, running: account.running };
      [account.unsettled, account.unsettledTokens] = [0, 0];
      account.atRest = account.running === 0;
      return { account: key, ...use };
    });
  }

  settle(states: readonly AccountState[], gateways: number): void {
    this.#others = Math.max(0, gateways - 1);
    const now = this.#clock();
    for (const { account: key, requestsMs, tokensMs, running: elsewhere } of states) {
      const account = this.#account(key, now);
      account.until = now + requestsMs + account.unsettled;
      account.tokensUntil = now + tokensMs + account.unsettledTokens;
      account.elsewhere = elsewhere;
    }
  }

  owe(uses: readonly AccountUse[]): void {
    for (const { account: key, requestsMs, tokensMs } of uses) {
      const account = this.#account(key, this.#clock());
      account.unsettled += requestsMs;
      account.unsettledTokens += tokensMs;
      account.atRest = false;
    }
  }

  /** Of very many, those that are as good as new. */
  #forget(now: number): void {
    if (this.#accounts.size < MOST_ACCOUNTS) return;
    for (const [key, account] of this.#accounts)
      if (isSettled(account) && account.until <= now && account.tokensUntil <= now) this.#accounts.delete(key);
  }

  #account(key: string, now: number): Account {
    let account = this.#accounts.get(key);
    if (account === undefined) {
      this.#forget(now);
      account = newAccount(now);
      this.#accounts.set(key, account);
    }
    // A clock that was set back makes nobody wait longer than a minute, or an hour for tokens.
    account.until = Math.min(Math.max(account.until, now), now + MINUTE_MS);
    account.tokensUntil = Math.min(Math.max(account.tokensUntil, now), now + HOUR_MS);
    return account;
  }
}

function newAccount(now: number): Account {
  const nothing = { unsettled: 0, unsettledTokens: 0, elsewhere: 0, reserved: 0, typical: 0 };
  return { until: now, tokensUntil: now, running: 0, atRest: true, ...nothing };
}

/** What runs elsewhere is asked for until it has ended: a key that was refused for it would stay refused. */
function isSettled({ unsettled, unsettledTokens, running, elsewhere, atRest }: Account): boolean {
  return unsettled === 0 && unsettledTokens === 0 && running === 0 && elsewhere === 0 && atRest;
}

function paceOf(perMinute: number | null): number {
  return perMinute === null ? 0 : MINUTE_MS / perMinute;
}

function limited(by: LimitKind, waitMs: number): Taken {
  return { kind: "limited", by, retryAfterSeconds: Math.ceil(waitMs / 1000) };
}

/** How much the newest request says about the next one's cost. */
const NEWEST_SHARE = 0.3;
const MOST_ACCOUNTS = 10_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
