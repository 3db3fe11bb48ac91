/** Whose commands these are: their folders, their number on this machine, and what they have trusted. */
import { homedir } from "node:os";
import { openRegister, type Register } from "./register.ts";
import { type UserFolders, userFolders } from "./user-folders.ts";

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
