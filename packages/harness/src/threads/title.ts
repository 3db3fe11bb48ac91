/** A thread's name from the user's own first words, without a model: it must cost nothing and be there at once. */

const MOST_CHARACTERS = 60;

/** The first sentence or line, on one line, cut at a word; empty where there are no words. */
export function titleOf(text: string, maxCharacters = MOST_CHARACTERS): string {
  const flat = text.replace(/\s+/g, " ").trim();
  const sentence = /^.{12,}?[.!?。！？](?=\s|$)/u.exec(flat)?.[0].replace(/[.。]$/u, "") ?? flat;
  const points = [...sentence];
  if (points.length <= maxCharacters) return sentence;
  const cut = points.slice(0, maxCharacters - 1).join("");
  const space = cut.lastIndexOf(" ");
  return `${space > maxCharacters / 2 ? cut.slice(0, space) : cut}…`;
}

/** However short it was cut: a title that begins a text says what the text says. */
export function isTitleOf(title: unknown, text: string): boolean {
  if (typeof title !== "string") return false;
  const words = title.replace(/…$/u, "");
  return words !== "" && text.replace(/\s+/g, " ").trim().startsWith(words);
}
