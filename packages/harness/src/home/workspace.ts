/**
 * Whether agents may work in a directory of the person's own: only after they said so once, for this directory, and never
 * where the home lies inside it, since an agent could then rewrite its own memory and settings.
 */
import { realpathSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import { isFolder } from "../private-files.ts";
import { identityOf, ownerOf, realPath } from "./content.ts";
import type { Person } from "./person.ts";

export type WorkspaceAdmission =
  | { readonly kind: "missing" | "other-user" | "holds-home"; readonly directory: string }
  /** `directory` is free of links. */
  | { readonly kind: "use"; readonly directory: string; distrust(): void }
  | { readonly kind: "ask"; readonly directory: string; trust(): void };

export function admitWorkspace(
  path: string,
  { home, person }: { readonly home: string; readonly person: Person },
): WorkspaceAdmission {
  if (!isFolder(path)) return { kind: "missing", directory: path };
  const directory = realpathSync(path);
  if (ownerOf([directory], person.uid) === "other") return { kind: "other-user", directory };
  if (isInside(realPath(home), directory)) return { kind: "holds-home", directory };
  const { register } = person;
  const identity = identityOf(directory);
  if (register.read("workspace", directory) === identity)
    return { kind: "use", directory, distrust: () => register.remove("workspace", directory) };
  return { kind: "ask", directory, trust: () => register.write("workspace", directory, identity) };
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === "" || (!way.startsWith("..") && !isAbsolute(way));
}
