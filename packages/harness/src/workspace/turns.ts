/**
 * One writer at a time per key within this process, so that two edits of one file in the same answer both take effect.
 * Other processes are not kept out; a whole-file write keeps them from mixing.
 */
const waiting = new Map<string, Promise<unknown>>();

export function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = waiting.get(key) ?? Promise.resolve();
  const mine = before.then(work, work);
  const settled = mine.catch(() => {});
  waiting.set(key, settled);
  void settled.then(() => {
    if (waiting.get(key) === settled) waiting.delete(key);
  });
  return mine;
}
