/** Whose commands these are: their folders, their number on this machine, and what they have trusted. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { openRegister, type Register } from "./register.ts";

/** Where a person's own things are: what they keep, and what programs note about them. */
export interface UserFolders {
  readonly data: string;
  readonly state: string;
}

export interface Person {
  readonly folders: UserFolders;
  /** Null where the system has no such numbers. */
  readonly uid: number | null;
  readonly register: Register;
}

export function personHere(env: Readonly<Record<string, string | undefined>> = process.env): Person {
  const folders = userFolders(env, { homeDirectory: env["HOME"] || homedir() });
  return { folders, uid: process.getuid?.() ?? null, register: openRegister(folders.state) };
}

/** By the XDG rules; a variable that is no absolute path is to be ignored, they say. */
export function userFolders(
  env: Readonly<Record<string, string | undefined>>,
  { homeDirectory }: { readonly homeDirectory: string },
): UserFolders {
  const folder = (variable: string, ...standard: readonly string[]): string => {
    const given = env[variable] ?? "";
    return join(isAbsolute(given) ? given : join(homeDirectory, ...standard), "palimpsest");
  };
  return {
    data: folder("XDG_DATA_HOME", ".local", "share"),
    state: folder("XDG_STATE_HOME", ".local", "state"),
  };
}
