/**
 * What a provider's prompt cache holds and what a request costs with it. Two kinds are documented: one reads the longest
 * prefix it has seen (OpenAI), the other only what was written at a mark, looking back a few blocks from each mark of the
 * request (Anthropic: 20 blocks, 4 marks; the life of an entry counts from the start of the request that used it).
 */
import type { Prices } from "@palimpsest/core/internal/pricing";

export interface CacheRules {
  readonly prices: Prices;
  readonly reads: "marks" | "prefix";
}

/** One piece of a prompt. `key` is the same value exactly when the piece is the same to the provider. */
export interface Piece {
  readonly key: unknown;
  readonly tokens: number;
  /** Places the provider looks at on its way back; a run of calls or of results is one. */
  readonly blocks: number;
}

export interface CachedRequest {
  readonly sentAt: number;
  readonly pieces: readonly Piece[];
  /** Indices of the pieces with a mark at their end, ascending. */
  readonly marks: readonly number[];
  readonly output: number;
}

interface Charge {
  readonly cost: number;
  readonly reused: number;
  readonly fresh: number;
}

export interface ProviderCache {
  /** Whether a request sent now could find anything of the last one. */
  state(sentAt: number): "warm" | "cold";
  charge(request: CachedRequest): Charge;
}

const LOOK_BACK = 20;

export function providerCache({ prices, reads }: CacheRules): ProviderCache {
  const prefixesOf = prefixNames();
  const aliveUntil = new Map<number, number>();
  let lastAt: number | null = null;
  return {
    state: (sentAt) => (lastAt === null || sentAt - lastAt > prices.ttlMs ? "cold" : "warm"),
    charge({ sentAt, pieces, marks, output }) {
      const prefixes = prefixesOf(pieces);
      const alive = (index: number): boolean => (aliveUntil.get(prefixes[index]!) ?? -1) >= sentAt;
      const ends = reads === "marks" ? marks : prefixes.map((_, index) => index);
      const hit = reads === "marks" ? longestAtMarks(pieces, marks, alive) : ends.findLast(alive);
      const tokens = (from: number, to: number): number =>
        pieces.slice(from, to).reduce((sum, piece) => sum + piece.tokens, 0);
      const read = (hit ?? -1) + 1;
      const written = Math.max(read, (ends.at(-1) ?? -1) + 1);
      const [reused, fresh, plain] = [tokens(0, read), tokens(read, written), tokens(written, pieces.length)];
      for (const end of hit === undefined ? ends : [...ends, hit])
        if (reads === "prefix" || end >= read || alive(end) || end === hit)
          aliveUntil.set(prefixes[end]!, sentAt + prices.ttlMs);
      lastAt = sentAt;
      const cost =
        reused * prices.cacheRead + fresh * prices.cacheWrite + plain * prices.input + output * prices.output;
      return { cost, reused, fresh: fresh + plain };
    },
  };
}

/** The longest entry that one of the marks finds on its way back. */
function longestAtMarks(
  pieces: readonly Piece[],
  marks: readonly number[],
  alive: (index: number) => boolean,
): number | undefined {
  for (const mark of marks.toReversed()) {
    let seen = 0;
    for (let index = mark; index >= 0 && seen < LOOK_BACK; index--) {
      if (alive(index)) return index;
      seen += pieces[index]!.blocks;
    }
  }
  return undefined;
}

/** Names each prefix of a list: the same number exactly when all pieces up to there are the same. */
function prefixNames(): (pieces: readonly Piece[]) => readonly number[] {
  const keys = new Map<unknown, number>();
  const names = new Map<string, number>();
  const numbered = <K>(map: Map<K, number>, key: K): number => {
    const known = map.get(key) ?? map.size;
    map.set(key, known);
    return known;
  };
  return (pieces) => {
    let name = -1;
    return pieces.map(({ key }) => (name = numbered(names, `${name} ${numbered(keys, key)}`)));
  };
}
