/**
 * Replaces one passage of a text by another. Pure. The passage must be there once, or the caller says that all are
 * meant; anything else is told in words that let the model correct itself. Nothing is interpreted: no patterns, no `$`.
 */

export type Edited =
  | { readonly kind: "edited"; readonly text: string; readonly count: number }
  | { readonly kind: "unchanged"; readonly problem: string };

export function editText(text: string, old: string, edit: { readonly by: string; readonly all: boolean }): Edited {
  if (old === "") return unchanged("old_str is empty: give the exact text to replace, or use write_file.");
  if (old === edit.by) return unchanged("old_str and new_str are the same: nothing would change.");
  const positions = occurrences(text, old);
  if (positions.length === 0) return unchanged(notFound(text, old));
  if (positions.length > 1 && !edit.all) {
    const lines = positions.slice(0, 10).map((index) => lineAt(text, index));
    const more = positions.length > 10 ? ", ..." : "";
    return unchanged(
      `old_str occurs ${positions.length} times (lines ${lines.join(", ")}${more}): add surrounding lines so that it is unique, or set replace_all.`,
    );
  }
  return { kind: "edited", text: text.split(old).join(edit.by), count: positions.length };
}

/** As `split` finds them: from the left, not overlapping. */
function occurrences(text: string, old: string): number[] {
  const positions: number[] = [];
  for (let index = text.indexOf(old); index !== -1; index = text.indexOf(old, index + old.length))
    positions.push(index);
  return positions;
}

function notFound(text: string, old: string): string {
  const near = sameButForSpace(text, old);
  const hint =
    near === null
      ? "Read the file again and copy the passage exactly."
      : `Line ${near} differs only in white space or line ends: copy it exactly.`;
  return `old_str was not found. ${hint}`;
}

/** The line where the passage stands but for spaces, tabs and line ends, if it does. */
function sameButForSpace(text: string, old: string): number | null {
  const wanted = old.split("\n").map(collapseSpaces).filter(Boolean);
  const [first] = wanted;
  if (first === undefined) return null;
  const lines = text.split("\n").map(collapseSpaces);
  for (let start = lines.indexOf(first); start !== -1; start = lines.indexOf(first, start + 1)) {
    const filled = lines.slice(start, start + wanted.length * 3).filter(Boolean);
    if (wanted.every((line, index) => filled[index] === line)) return start + 1;
  }
  return null;
}

function collapseSpaces(line: string): string {
  return line.trim().split(/\s+/).join(" ");
}

function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < index; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

function unchanged(problem: string): Edited {
  return { kind: "unchanged", problem };
}
