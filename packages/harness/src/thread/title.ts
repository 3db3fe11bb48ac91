/** A thread's name from the user's own first words, without a model: it must cost nothing and be there at once. */

export interface TitleLimits {
  readonly maxCharacters?: number;
  readonly maxWords?: number;
}

/** The first sentence or line, on one line, cut at a word; empty where there are no words. */
export function titleOf(
  text: string,
  { maxCharacters = 60, maxWords = Number.POSITIVE_INFINITY }: TitleLimits = {},
): string {
  // A first message may be a file of megabytes; no title reaches beyond its start.
  const flat = text.trimStart().slice(0, READ_CHARACTERS).replace(/\s+/g, " ").trim();
  const sentence = /^.{12,}?[.!?。！？](?=\s|$)/u.exec(flat)?.[0].replace(/[.。]$/u, "") ?? flat;
  const words = sentence.split(" ");
  const short = words.slice(0, maxWords).join(" ");
  const points = [...short];
  if (points.length <= maxCharacters) return words.length <= maxWords ? short : `${short.replace(/[,;:]$/, "")}…`;
  const cut = points.slice(0, maxCharacters - 1).join("");
  const space = cut.lastIndexOf(" ");
  return `${space > maxCharacters / 2 ? cut.slice(0, space) : cut}…`;
}

const READ_CHARACTERS = 10_000;
