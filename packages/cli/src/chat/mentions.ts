/** Files that a message mentions: `@PATH`, or `@"PATH"` with blanks. Pure; whether there is such a file is another's question. */

export function mentionedPaths(text: string): readonly string[] {
  return [...text.matchAll(MENTION)].map(([, quoted, plain]) => quoted ?? plain!);
}

const MENTION = /(?<!\S)@(?:"([^"\n]+)"|(\S+))/g;
