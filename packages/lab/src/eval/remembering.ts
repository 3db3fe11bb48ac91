/** Keeps the counts of short texts: the same lines are counted for many questions. */
export function remembering(count: (text: string) => number): (text: string) => number {
  const cache = new Map<string, number>();
  return (text) => {
    if (text.length > 2_000) return count(text);
    const tokens = cache.get(text) ?? count(text);
    cache.set(text, tokens);
    return tokens;
  };
}
