/**
 * What long conversations were known by last time, under the bytes that said it: a body that begins with them is not
 * hashed again from the front. A cache and nothing else: what it gives is what `chainOf` would.
 */
import type { Shape } from "@palimpsest/core/message";
import { type ChainState, chainOf, type Place, type Secret, START } from "./chain.ts";

export interface ChainMemory {
  /** `list`: the bytes of the messages' list, with its brackets, that `messages` were read from. */
  chain<M>(messages: readonly M[], given: RememberedChain<M>): ReturnType<typeof chainOf>;
}

interface RememberedChain<M> {
  readonly shape: Shape<M>;
  readonly secret: Secret;
  readonly list: Buffer;
  readonly user: string;
}

interface Entry {
  readonly key: string;
  /** Without the closing bracket. */
  readonly bytes: Buffer;
  readonly places: readonly Place[];
  readonly state: ChainState;
}

/** Shorter ones are hashed faster than they are looked for. */
const LEAST_BYTES = 32_768;
const MOST_BYTES = 64 * 1024 * 1024;

export function chainMemory(): ChainMemory {
  let entries: readonly Entry[] = [];
  return {
    chain(messages, { shape, secret, list, user }) {
      const key = `${shape.dialect}\n${user}`;
      const bytes = list.subarray(0, list.lastIndexOf("]"));
      if (bytes.length < LEAST_BYTES) return chainOf(messages, { shape, secret });
      const before = entries.findLast((entry) => entry.key === key && beginsWith(bytes, entry.bytes));
      const from = before?.state ?? START;
      const rest = chainOf(messages.slice(before?.places.length ?? 0), { shape, secret, from });
      const places = [...(before?.places ?? []), ...rest.places];
      const last = messages.at(-1);
      // An answer may go on in the next item; then it is another message.
      if (last !== undefined && shape.role(last) !== "assistant") {
        const entry = { key, bytes, places, state: rest.state };
        entries = within([...entries.filter((one) => one !== before), entry]);
      }
      return { places, state: rest.state };
    },
  };
}

/** The message after them must be another one. */
function beginsWith(bytes: Buffer, before: Buffer): boolean {
  if (bytes.length < before.length || !bytes.subarray(0, before.length).equals(before)) return false;
  const next = bytes.toString("latin1", before.length, before.length + 8).trimStart();
  return bytes.length === before.length || next.startsWith(",");
}

/** The newest, as far as there is room. */
function within(entries: readonly Entry[]): readonly Entry[] {
  let taken = 0;
  const first = entries.findLastIndex(({ bytes }) => {
    taken += bytes.length;
    return taken > MOST_BYTES;
  });
  return entries.slice(first + 1);
}
