/** Whose account a request goes on, and whether there is a place for it: its key's, or its address's while the key is unproven. */
import { isIPv6 } from "node:net";
import type { Home } from "palimpsest/internal/home";
import type { AccountState, AccountUse, SharedLimits } from "palimpsest/stores";
import { ProblemError } from "../http/problem.ts";
import type { Route } from "../http/route.ts";
import { type Caller, isProviderUser } from "./admit.ts";

interface PlaceDeps {
  readonly home: Home;
  readonly limits: RequestLimits;
  readonly strangers: Strangers;
}

interface AskedPlace {
  readonly place: Pick<Route, "spends">;
  readonly request: Pick<Request, "method" | "headers">;
  readonly address: string | null;
}

interface RequestPlaces {
  /** Throws where there is none. */
  /** `key`: whose account it goes on. `expected`: tokens that it will probably cost; 0 where it asks no model. */
  take(caller: Caller, asked: AskedPlace): Promise<TakenPlace>;
  /** Whether all that is known of the caller is a key that no provider has accepted yet. */
  isStranger(caller: Caller): boolean;
}

export function requestPlaces({ home, limits, strangers }: PlaceDeps): RequestPlaces {
  const isStranger = (caller: Caller): boolean => isProviderUser(caller) && !strangers.isAccepted(caller.userId);
  const hasThreads = async (userId: string): Promise<boolean> => {
    const page = await home
      .forUser(userId)
      .store.threads({ limit: 1 })
      .catch(() => null);
    return page !== null && page.threads.length > 0;
  };
  return {
    isStranger,
    async take(caller, asked) {
      const expected = expectedTokens(asked);
      if (!isStranger(caller)) return taken(limits.take(accountOf(caller), expected), KEYS);
      const place = taken(strangers.take(asked.address), STRANGERS);
      if (!(await hasThreads(caller.userId))) return place;
      // Nothing is written for strangers: a user who has threads was accepted before.
      strangers.accept(caller.userId);
      place.release();
      return taken(limits.take(accountOf(caller), expected), KEYS);
    },
  };
}

/** Where there are no keys everything is one person's. */
function accountOf({ key }: Caller): string {
  return key ?? "local";
}

/** What a request that may ask a model will probably cost, by its length: an answer, and its body unless that is a picture. */
function expectedTokens({ place: { spends }, request: { method, headers } }: AskedPlace): number {
  if (spends === undefined || method !== "POST") return 0;
  const bytes = Number(headers.get("content-length"));
  return ANSWER_TOKENS + (Number.isFinite(bytes) ? Math.min(MOST_EXPECTED, Math.ceil(bytes / BYTES_PER_TOKEN)) : 0);
}

const ANSWER_TOKENS = 500;
const BYTES_PER_TOKEN = 4;
const MOST_EXPECTED = 30_000;

function taken(result: Taken, reasons: Readonly<Record<LimitKind, string>>): TakenPlace {
  if (result.kind === "taken") return result;
  const seconds = result.retryAfterSeconds;
  throw new ProblemError(429, "limited", `${reasons[result.by]}: try again in ${seconds} s`, {
    headers: { "retry-after": String(seconds) },
  });
}

const STRANGERS: Readonly<Record<LimitKind, string>> = {
  requests: "too many requests of this minute came with keys that no provider has accepted yet",
  tokens: "too many tokens of this minute went to keys that no provider has accepted yet",
  running: "too many requests with keys that no provider has accepted yet are running already",
};

const KEYS: Readonly<Record<LimitKind, string>> = {
  requests: "this key has made its requests of this minute",
  tokens: "this key has used up its tokens of this minute",
  running: "so many requests of this key are running already",
};

/*
 * How much one key may ask for: requests and tokens a minute, and requests at once. A minute's worth may be used in one go
 * and then comes back evenly. What a request costs in tokens is known when it has ended: until then it holds what it is
 * expected to cost, so that many at once don't get past the limit together. The one that goes over is answered, and the
 * next ones wait until that much has come back. Where several gateways count together, what was used here
 * is settled with the others now and then (`keepSettled`); until then it counts as if each of them had used as much.
 */

interface LimitSettings {
  /** Null: no limit. */
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly running: number | null;
}

type Taken = TakenPlace | { readonly kind: "limited"; readonly by: LimitKind; readonly retryAfterSeconds: number };

interface TakenPlace {
  readonly kind: "taken";
  /** Tokens that the request has cost, in and out; also after its release. */
  spend(tokens: number): void;
  release(): void;
}

type LimitKind = "requests" | "tokens" | "running";

interface KeyAccount {
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

export class RequestLimits {
  readonly #settings: LimitSettings;
  readonly #clock: () => number;
  readonly #accounts = new Map<string, KeyAccount>();
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

  #place(key: string, account: KeyAccount, expected: number): TakenPlace {
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

  /** What was used since the last time, to be settled; accounts at rest are left out. */
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

  /** What stands on the accounts, wherever it was used, and how many gateways count. */
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

  /** These could not be settled: they are owed still. */
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

  #account(key: string, now: number): KeyAccount {
    let account = this.#accounts.get(key);
    if (account === undefined) {
      this.#forget(now);
      account = newAccount(now);
      this.#accounts.set(key, account);
    }
    // If the clock was set back, the wait is at most a minute, or an hour for tokens.
    account.until = Math.min(Math.max(account.until, now), now + MINUTE_MS);
    account.tokensUntil = Math.min(Math.max(account.tokensUntil, now), now + HOUR_MS);
    return account;
  }
}

function newAccount(now: number): KeyAccount {
  const nothing = { unsettled: 0, unsettledTokens: 0, elsewhere: 0, reserved: 0, typical: 0 };
  return { until: now, tokensUntil: now, running: 0, atRest: true, ...nothing };
}

/** What runs elsewhere is asked for until it has ended: a key that was refused for it would stay refused. */
function isSettled({ unsettled, unsettledTokens, running, elsewhere, atRest }: KeyAccount): boolean {
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

/*
 * Callers with a provider's key that no provider has accepted yet. Such a key may be made up: nothing is written for it
 * until a provider has answered it once, and its requests are limited by their address and for all strangers together,
 * since a new key costs nothing.
 */

export interface Strangers {
  /** Whether a provider has accepted the user's key, as far as it is known here. */
  isAccepted(userId: string): boolean;
  accept(userId: string): void;
  /** For a request with a key that is not accepted yet. */
  take(address: string | null): Taken;
  /** By address and of all, for gateways that count together. */
  readonly counted: readonly RequestLimits[];
}

interface StrangerLimits {
  readonly ofAddress: Omit<LimitSettings, "tokensPerMinute">;
  readonly ofAll: Omit<LimitSettings, "tokensPerMinute">;
}

/** Most users that are remembered; one that is forgotten is accepted again by its next answer. */
const MOST = 100_000;

export function createStrangers({ ofAddress, ofAll }: StrangerLimits, clock: () => number): Strangers {
  const accepted = new Set<string>();
  const addresses = new RequestLimits({ ...ofAddress, tokensPerMinute: null }, clock);
  const all = new RequestLimits({ ...ofAll, tokensPerMinute: null }, clock);
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

/*
 * Limits that several gateways count together: once a second each books what was used there and learns what stands on the
 * account. Over a minute this is exact; within a second a key may get on each gateway what that one doesn't know to be used
 * up elsewhere. While the store doesn't answer, requests pass and each gateway counts for itself.
 */

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
