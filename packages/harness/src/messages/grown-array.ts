/**
 * What was found out about an array, for the next time it comes, grown by a few messages. Messages are values, so an array
 * is known again by the objects in it: comparing those is far cheaper than reading them. Known by the last of them, since
 * conversations may share their first.
 */
export interface Grown<T> {
  /** How many messages, from the start, are those of the last time. */
  readonly same: number;
  /** What was kept then; undefined where this array isn't known. */
  readonly value: T | undefined;
  keep(value: T): void;
}

export function grownArrays<T>(): (messages: readonly object[]) => Grown<T> {
  const known = new WeakMap<object, { readonly messages: object[]; readonly value: T }>();
  return (messages) => {
    const seen = lastSeen(messages, (message) => known.get(message));
    const same = seen === undefined ? 0 : commonLength(messages, seen.messages);
    const keep = (value: T): void => {
      const last = messages.at(-1);
      if (last === undefined) return;
      const snapshot = seen?.messages ?? [];
      const before = snapshot.at(-1);
      if (before !== undefined && before !== last) known.delete(before);
      snapshot.length = same;
      for (let index = same; index < messages.length; index += 1) snapshot.push(messages[index]!);
      known.set(last, { messages: snapshot, value });
    };
    return { same, value: seen?.value, keep };
  };
}

/** A call adds a few messages; an array that got many more is read anew. */
const MOST_NEW = 100;

function lastSeen<T>(messages: readonly object[], get: (message: object) => T | undefined): T | undefined {
  const from = Math.max(0, messages.length - MOST_NEW);
  for (let index = messages.length - 1; index >= from; index -= 1) {
    const seen = get(messages[index]!);
    if (seen !== undefined) return seen;
  }
  return undefined;
}

function commonLength(messages: readonly object[], others: readonly object[]): number {
  const most = Math.min(messages.length, others.length);
  let length = 0;
  while (length < most && messages[length] === others[length]) length += 1;
  return length;
}
