/** Which requests are being answered, so that a server can wait for the last of them before it ends. */

export interface UnderWay {
  /** A request is under way until the function that comes back is called; the first time counts. */
  open(): () => void;
  count(): number;
  /** When none is under way any more, or the time is over. */
  ended(graceMs: number): Promise<void>;
}

export function underWay(): UnderWay {
  const requests = new Set<symbol>();
  const waiting = new Set<() => void>();
  return {
    open() {
      const request = Symbol("request");
      requests.add(request);
      return () => {
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
