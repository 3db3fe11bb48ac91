/**
 * How the model can read what is no longer shown, and how that is said. Only what it really has is named: a tool that
 * isn't there costs a failed call, and a folder it can't open costs its trust.
 */
export interface Originals {
  /** The folder of the part files, ending with a slash; null: it has no files. */
  readonly folder: string | null;
  /** What finds messages, as the summary says it: `recall`, or the caller's own words; null: nothing does. */
  readonly finder: string | null;
  /** The tool that reads a message by its number; null: none does. */
  readonly reader: string | null;
}

export const NOWHERE: Originals = { folder: null, finder: null, reader: null };

/** The tools of that name. */
export const RECALL: Originals = { folder: null, finder: "recall", reader: "recall_read" };

/** A sentence about all of them. */
export function whereOriginals({ folder, finder }: Originals): string {
  if (folder === null && finder === null) return "The messages themselves are no longer shown.";
  if (folder === null) return `${PROMISE}${FIND}${finder}.`;
  return finder === null ? `${PROMISE} in ${folder}.` : `${PROMISE} in ${folder}${FOUND}${finder}.`;
}

/** What such a sentence in a summary promises. */
export function originalsIn(summary: string): Originals {
  const line = summary.split("\n").find((one) => one.includes(PROMISE) && one.endsWith(".")) ?? "";
  const promise = line.slice(line.indexOf(PROMISE) + PROMISE.length, -1);
  const folder = /^ in (\S+\/)/.exec(promise)?.[1] ?? null;
  const finder = after(promise, FIND) ?? after(promise, FOUND);
  return { folder, finder, reader: finder === RECALL.finder ? RECALL.reader : null };
}

const PROMISE = "The originals are kept word for word";
const FIND = ": find them with ";
const FOUND = " and can be found with ";

function after(text: string, words: string): string | null {
  const at = text.indexOf(words);
  return at === -1 ? null : text.slice(at + words.length);
}

/** Where more of a list is, behind its count; "" when nowhere. */
export function whereMore({ folder, finder }: Originals): string {
  return [folder, finder].filter((place) => place !== null).join(" or ");
}

/** Where an image or file of a message is: no tool shows it again, but the part files hold it. "" when nowhere. */
export function whereMedia({ folder }: Originals): string {
  return folder ?? "";
}

/** Where one message stands whole; "" when nowhere. */
export function whereMessage(seq: number, { folder, finder, reader }: Originals): string {
  if (reader !== null) return folder === null ? `${reader} ${seq}` : `${reader} ${seq} or ${folder}`;
  return whereMore({ folder, finder, reader });
}
