/**
 * Finds the home, the configuration file and the person's own folders. Decides and reads small files only: whether something
 * that was found may be used is `trust.ts`, and the schema is never loaded here.
 */

import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import { errorCode } from "@palimpsest/core/internal/text";
import { HOME_NAME, PRIVATE_FILE, PRIVATE_FOLDER } from "../home-folders.ts";

export const CONFIG_NAME = "config.yaml";

export interface ChosenConfig {
  readonly path: string;
  readonly reason: "option" | "environment" | "home" | "directory";
}

export interface ConfigQuestion {
  /** `--config`. */
  readonly option?: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
}

export function chooseConfig(
  { option = null, env, home, cwd }: ConfigQuestion,
  { exists, isOurs }: { readonly exists: (path: string) => boolean; readonly isOurs: (path: string) => boolean },
): ChosenConfig | null {
  if (option !== null) return { path: resolve(cwd, option), reason: "option" };
  const named = env["PALIMPSEST_CONFIG"] ?? "";
  if (named !== "") return { path: resolve(cwd, named), reason: "environment" };
  const own = join(resolve(cwd, home), CONFIG_NAME);
  if (exists(own)) return { path: own, reason: "home" };
  const near = upwards(cwd)
    .map((folder) => join(folder, CONFIG_NAME))
    .find((path) => exists(path) && isOurs(path));
  return near === undefined ? null : { path: near, reason: "directory" };
}

export function readConfig({ path }: ChosenConfig): string | { readonly problem: string } {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = errorCode(error);
    return { problem: code === "ENOENT" ? "does not exist" : `can't be read (${code})` };
  }
}

export function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

/** Empty if the file is too large or can't be read: it may be another program's. */
export function smallText(path: string): string {
  try {
    return isFile(path) && statSync(path).size <= MOST_BYTES ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}

const MOST_BYTES = 1 << 20;

/** The variable that `$NAME` or `${NAME}` as a whole value stands for; undefined for any other value. */
export function variableOf(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const named = /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))$/.exec(value);
  return named?.[1] ?? named?.[2];
}

/* Home: the one named, else the nearest `.palimpsest` above the working directory, else the person's own. */

export interface ChosenHome {
  readonly directory: string;
  readonly reason: "option" | "environment" | "found" | "user";
}

interface HomeQuestion {
  /** `--home`. */
  readonly option: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The one home per user. */
  readonly userHome: string;
  readonly isDirectory: (path: string) => boolean;
}

export function chooseHome({ option, env, cwd, userHome, isDirectory }: HomeQuestion): ChosenHome {
  if (option !== null) return { directory: resolve(cwd, option), reason: "option" };
  const named = env["PALIMPSEST_HOME"] ?? "";
  if (named !== "") return { directory: resolve(cwd, named), reason: "environment" };
  const nearest = upwards(cwd)
    .map((folder) => join(folder, HOME_NAME))
    .find(isDirectory);
  if (nearest === undefined || nearest === userHome) return { directory: userHome, reason: "user" };
  return { directory: nearest, reason: "found" };
}

/** The folder itself, its parent, and so on to the root. */
export function upwards(folder: string): string[] {
  const here = resolve(folder);
  const parent = dirname(here);
  return parent === here ? [here] : [here, ...upwards(parent)];
}

/** A person's folders: `data` for the home, `state` for notes about trust. */
interface UserFolders {
  readonly data: string;
  readonly state: string;
}

export interface HomeOwner {
  readonly folders: UserFolders;
  /** Null on systems without user ids. */
  readonly uid: number | null;
  readonly register: Register;
}

export function personHere(env: Readonly<Record<string, string | undefined>> = process.env): HomeOwner {
  const folders = userFolders(env, { homeDirectory: env["HOME"] || homedir() });
  return { folders, uid: process.getuid?.() ?? null, register: openRegister(folders.state) };
}

/** Follows the XDG rules, which ignore a variable that is not an absolute path. */
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

/*
 * The register: what the person trusts and which homes we made, one small file each in the person's state folder. No
 * directory can vouch for itself, and two processes never overwrite each other's notes.
 */

/** `trusted`: the fingerprint of the content. `made`, `workspace`: the identity of the directory. */
type RegisterNote = "trusted" | "made" | "workspace";

interface Register {
  read(note: RegisterNote, path: string): string | null;
  write(note: RegisterNote, path: string, value: string): void;
  remove(note: RegisterNote, path: string): void;
}

/** `path` is a real path, so that two names of one place share an entry. */
function openRegister(stateFolder: string): Register {
  const fileOf = (note: RegisterNote, path: string): string =>
    join(stateFolder, note, `${createHash("sha256").update(path).digest("hex")}.json`);
  return {
    read(note, path) {
      try {
        const entry = JSON.parse(readFileSync(fileOf(note, path), "utf8")) as { path?: unknown; value?: unknown };
        return entry.path === path && typeof entry.value === "string" ? entry.value : null;
      } catch {
        // Missing or unreadable: nothing is known.
        return null;
      }
    },
    write(note, path, value) {
      const file = fileOf(note, path);
      const temporary = `${file}.${randomUUID()}.tmp`;
      mkdirSync(dirname(file), { recursive: true, mode: PRIVATE_FOLDER });
      try {
        writeFileSync(temporary, `${JSON.stringify({ path, value })}\n`, { flag: "wx", mode: PRIVATE_FILE });
        renameSync(temporary, file);
      } finally {
        rmSync(temporary, { force: true });
      }
    },
    remove: (note, path) => rmSync(fileOf(note, path), { force: true }),
  };
}

/** The home is not a directory, isn't trusted, or its configuration is wrong. */
export class HomeError extends PalimpsestError<"home-not-a-directory" | "untrusted" | "config"> {
  static override readonly kind = "HomeError";
}
