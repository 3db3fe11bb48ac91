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
  const promise = "The originals are kept word for word";
  if (folder === null) return `${promise}: find them with ${finder}.`;
  return finder === null ? `${promise} in ${folder}.` : `${promise} in ${folder} and can be found with ${finder}.`;
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
