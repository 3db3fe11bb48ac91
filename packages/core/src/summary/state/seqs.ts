/** Message numbers as a person reads them: `[12, 40-44]`. */
export function formatSeqs(seqs: readonly number[]): string {
  if (seqs.length === 0) return "[no source]";
  const sorted = [...new Set(seqs)].sort((a, b) => a - b);
  const runs: string[] = [];
  for (let at = 0; at < sorted.length; ) {
    let end = at;
    while (sorted[end + 1] === sorted[end]! + 1) end++;
    runs.push(end === at ? `${sorted[at]}` : `${sorted[at]}-${sorted[end]}`);
    at = end + 1;
  }
  return `[${runs.join(", ")}]`;
}
