/**
 * Which requests are being answered, so that a server can wait for the last of them before it ends, and cut off those
 * whose key was revoked or has expired meanwhile.
 */
import type { Caller, KeyFacts } from "../access/admit.ts";
import type { After } from "../http/event-stream.ts";

/** By whom a request was made. */
interface KeptOpen {
  /** What came with it; requests with the same are looked at once. */
  readonly credential: string;
  /** Whether it would still be let in. Throws if nobody can tell. */
  readonly holds: () => Promise<boolean>;
  /** Ends the connection. */
  readonly cut: () => void;
}

interface OpenRequest {
  /** Null: it needs none. */
  readonly caller: Pick<Caller, "key"> | null;
  readonly headers: Headers;
  /** The connection, where it is a server of ours. */
  readonly outgoing: { destroy(): unknown } | undefined;
  /** What the store says of the key that came with it. */
  readonly keysOf: (headers: Headers) => Promise<KeyFacts>;
}

export interface UnderWay {
  /** A request is under way until the function that comes back is called; the first time counts. */
  open(request: OpenRequest): () => void;
  count(): number;
  /** When none is under way any more, or the time is over. */
  ended(graceMs: number): Promise<void>;
}

export function underWay(after: After): UnderWay {
  const requests = new Set<symbol>();
  const waiting = new Set<() => void>();
  const watched = watchedKeys(after);
  return {
    open({ caller, ...rest }) {
      const request = Symbol("request");
      requests.add(request);
      const isWatched = caller !== null && caller.key !== null;
      const leave = isWatched ? watched(keptOpen(rest)) : () => {};
      return () => {
        leave();
        requests.delete(request);
        if (requests.size === 0) for (const resolve of waiting) resolve();
      };
    },
    count: () => requests.size,
    async ended(graceMs) {
      if (requests.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      const late = setTimeout(resolve, graceMs);
      await promise;
      clearTimeout(late);
      waiting.delete(resolve);
    },
  };
}

function keptOpen({ headers, outgoing, keysOf }: Omit<OpenRequest, "caller">): KeptOpen {
  return {
    credential: ["authorization", "x-api-key", "cookie"].map((name) => headers.get(name) ?? "").join("\n"),
    async holds() {
      const { presented } = await keysOf(headers);
      return typeof presented === "object" && presented.state === "valid";
    },
    cut: () => void outgoing?.destroy(),
  };
}

/** So long a stream goes on at most after its key was revoked, on whichever gateway. */
export const KEY_CHECK_MS = 5000;

/** One look for each credential that has something under way, however many requests that are. */
function watchedKeys(after: After): (by: KeptOpen) => () => void {
  const credentials = new Map<string, { readonly open: Set<KeptOpen>; stop: () => void }>();
  return (by) => {
    const watched = credentials.get(by.credential) ?? { open: new Set<KeptOpen>(), stop: () => {} };
    if (watched.open.size === 0) {
      credentials.set(by.credential, watched);
      watched.stop = after(KEY_CHECK_MS, look);
    }
    watched.open.add(by);
    return () => {
      if (!watched.open.delete(by) || watched.open.size > 0) return;
      watched.stop();
      credentials.delete(by.credential);
    };

    async function look(): Promise<void> {
      // A store that doesn't answer revokes nothing.
      const holds = await by.holds().catch(() => true);
      if (watched.open.size === 0) return;
      if (!holds) for (const one of watched.open) one.cut();
      watched.stop = after(KEY_CHECK_MS, look);
    }
  };
}
