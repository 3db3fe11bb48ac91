/**
 * Names of files and folders that a person's own programs run because they are there: git's hooks, an editor's tasks. In a
 * directory of the person the agent reads them and can't change them. Pure.
 */
import { ToolFailure } from "./tool-failure.ts";
import { type Place, virtualPath } from "./virtual-path.ts";

/** The first of the names on the way to a file, at any depth; null if there is none. */
export function protectedIn(names: readonly string[], segments: readonly string[]): string | null {
  if (names.length === 0) return null;
  const folded = names.map(fold);
  return segments.find((segment) => folded.includes(fold(segment))) ?? null;
}

export function protectedFailure(place: Place, name: string): ToolFailure {
  return new ToolFailure(
    `${virtualPath(place)} can't be changed: programs of the user run what is in ${name}. Tell the user what to change there.`,
  );
}

/** Some disks take other spellings for the same name: other cases, invisible characters, dots and blanks at the end. */
function fold(name: string): string {
  const visible = name.replace(/\p{Default_Ignorable_Code_Point}/gu, "").replace(/(?<![. ])[. ]+$/, "");
  const lower = visible.toLowerCase();
  return lower === "git~1" ? ".git" : lower;
}
