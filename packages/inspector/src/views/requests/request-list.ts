/** The requests of clients as the view lists them: found by words, added up, each said in figures. Pure. */
import type { AskAnswer } from "../../api/ask.ts";

export type ClientRequest = AskAnswer<"GET /api/requests">["requests"][number];

/** Every word stands somewhere in what is shown of the request: `forked`, `gpt`, a thread's id or name, `500`. */
export function matching(
  requests: readonly ClientRequest[],
  words: string,
  nameOf: (threadId: string) => string,
): readonly ClientRequest[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return requests;
  return requests.filter((one) => {
    const text = [one.path, one.model, one.upstreamModel, one.provider, one.match, one.view, one.mode]
      .concat(
        one.end,
        one.thread ?? "",
        one.thread === null ? "" : nameOf(one.thread),
        String(one.status),
        one.id,
        one.compaction ?? "",
      )
      .join(" ")
      .toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

export interface Totals {
  readonly count: number;
  readonly failed: number;
  readonly savedTokens: number;
  /** Of what the clients' whole histories would have counted. */
  readonly savedShare: number;
  /** Null: nothing has a price. */
  readonly cost: number | null;
  readonly savedCost: number | null;
  /** Of all prompts, what providers' caches held. */
  readonly cacheShare: number | null;
}

export function totalsOf(requests: readonly ClientRequest[]): Totals {
  const sum = (figure: (one: ClientRequest) => number | null): number | null => {
    const known = requests.flatMap((one) => figure(one) ?? []);
    return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
  };
  const savedTokens = sum(({ saved }) => saved.tokens) ?? 0;
  const whole = sum(({ upstream }) => upstream?.whole ?? null) ?? 0;
  const input = sum(({ usage }) => usage?.input ?? null);
  const cached = sum(({ usage }) => usage?.cacheRead ?? null);
  return {
    count: requests.length,
    failed: requests.filter(({ end }) => end === "failed" || end === "refused").length,
    savedTokens,
    savedShare: whole === 0 ? 0 : savedTokens / whole,
    cost: sum(({ cost }) => cost),
    savedCost: sum(({ saved }) => saved.cost),
    cacheShare: input === null || input === 0 ? null : (cached ?? 0) / input,
  };
}

/** `1.2 kB` */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Why a request went on in a fork. */
export const FORKS: Readonly<Record<NonNullable<ClientRequest["fork"]>, string>> = {
  "other-way": "It goes another way than the thread: something said before was edited, or an answer asked for again",
  held: "Another request held the thread at that moment",
  "moved-on": "The thread has moved on since the answer that the request follows",
};

export const MATCHES: Readonly<Record<string, string>> = {
  new: "A conversation that was not known yet: a new thread",
  extended: "Goes on where a known thread ends",
  forked: "A fork of a known thread",
  joined: "The same request once more: one call for both",
  passed: "Passed on and not stored",
};
