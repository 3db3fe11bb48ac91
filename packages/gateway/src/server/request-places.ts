/** Whose account a request goes on, and whether there is a place for it: its key's, or its address's while the key is unproven. */
import type { Home } from "palimpsest/internal/home";
import { type Caller, isProviderUser } from "../access/admit.ts";
import type { LimitKind, Limits, Taken, TakenPlace } from "../access/limits.ts";
import type { Strangers } from "../access/strangers.ts";
import { ProblemError } from "../http/problem.ts";
import type { Route } from "../http/route.ts";

interface PlaceDeps {
  readonly home: Home;
  readonly limits: Limits;
  readonly strangers: Strangers;
}

interface AskedPlace {
  readonly place: Pick<Route, "spends">;
  readonly request: Pick<Request, "method" | "headers">;
  readonly address: string | null;
}

export interface RequestPlaces {
  /** Throws where there is none. */
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
      // Nothing is written for strangers: whoever has threads was accepted before.
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
