/** Which words of a question no hit has marked. Pure. */

const MOST_WORDS = 4;

/** A mark may be another form of the word: the same beginning is enough. */
export function unmarkedWords(
  question: string,
  hits: readonly { readonly snippet: string; readonly marks: readonly unknown[] }[],
): readonly string[] {
  const marked = hits.flatMap(({ snippet, marks }) =>
    marks.flatMap((mark) =>
      Array.isArray(mark) ? [snippet.slice(Number(mark[0]), Number(mark[1])).toLowerCase()] : [],
    ),
  );
  const words = question.toLowerCase().match(/[\p{L}\p{N}_-]{3,60}/gu) ?? [];
  const missing = words.filter((word) => !marked.some((one) => one.includes(word.slice(0, 4))));
  return [...new Set(missing)].slice(0, MOST_WORDS);
}
