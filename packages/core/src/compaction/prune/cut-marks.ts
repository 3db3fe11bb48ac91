/**
 * Where a provider that caches at marks is to be told to: behind the last message that the newest pass has touched, where
 * the next one begins, and behind the one before it, where the newest could read. Pure, and the same for all who ask.
 */

/** `reach`: the last message that each live pass touches, in order. Seqs, ascending, at most two. */
export function cutMarks(reach: readonly number[]): readonly number[] {
  const marks: number[] = [];
  for (const seq of reach) if (seq > (marks.at(-1) ?? 0)) marks.push(seq);
  return marks.slice(-2);
}
