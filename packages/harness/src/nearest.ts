/**
 * The closest of some known words to a misspelt one, for error messages.
 */

export function nearest(word: string, words: readonly string[]): string | null {
  const scored = words.map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate) }));
  const best = scored.sort((a, b) => a.distance - b.distance)[0];
  return best !== undefined && best.distance <= Math.max(2, Math.floor(word.length / 3)) ? best.candidate : null;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const letter of a.split("")) {
    let [diagonal = 0] = row;
    let left = diagonal + 1;
    row = row.map((above, at) => {
      const change = diagonal + (b[at - 1] === letter ? 0 : 1);
      if (at > 0) left = Math.min(change, above + 1, left + 1);
      diagonal = above;
      return left;
    });
  }
  return row.at(-1) ?? 0;
}
