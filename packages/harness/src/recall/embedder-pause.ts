/** An embedder that fails is left alone, longer each time, so that no search waits for it in vain. Time is an argument. */
export interface EmbedderPause {
  isOn(now: number): boolean;
  /** `first`: it has worked until now. */
  failed(now: number): "first" | "again";
  worked(): void;
}

const PAUSES_MS = [10_000, 60_000, 600_000] as const;

export function createEmbedderPause(): EmbedderPause {
  let failures = 0;
  let until = Number.NEGATIVE_INFINITY;
  return {
    isOn: (now) => now < until,
    failed(now) {
      until = now + (PAUSES_MS[failures] ?? PAUSES_MS.at(-1)!);
      failures += 1;
      return failures === 1 ? "first" : "again";
    },
    worked() {
      failures = 0;
      until = Number.NEGATIVE_INFINITY;
    },
  };
}
