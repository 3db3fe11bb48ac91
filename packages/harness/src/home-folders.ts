/**
 * Where a home keeps what belongs to a user and to a thread. The default user's things lie in the home itself, everybody
 * else's under `users/`. A name becomes a folder's name by one rule, on every system: what differs in case only, or is a
 * device or a way out elsewhere, gets a folder of its own. Below: which other stores a home was used with, and how YAML is
 * read.
 */
import { createHash } from "node:crypto";
import { appendFileSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { DEFAULT_USER, type ThreadName } from "@palimpsest/core/internal/log";

/** The folder of a project's own home. */
export const HOME_NAME = ".palimpsest";

/** Memory, agents and threads of one user. */
export function userFolder(home: string, userId: string): string {
  return userId === DEFAULT_USER ? home : join(home, "users", folderName(userId));
}

/** Everything the home keeps of a thread beside its log: workspace, uploads, outputs, history. */
export function threadFolder(home: string, { user, id }: ThreadName): string {
  return join(userFolder(home, user), "threads", folderName(id));
}

const LONGEST = 200;
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/;

/** No two names share a folder, also where a disk doesn't tell upper from lower case. */
export function folderName(name: string): string {
  const spelled = name.replace(/[^a-z0-9_.-]|^\.|\.$/gu, escaped).replace(DEVICE, (device) => {
    return escaped(device.charAt(0)) + device.slice(1);
  });
  if (spelled.length <= LONGEST) return spelled;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 32);
  return `${spelled.slice(0, 100).replace(/%.?$/, "")}~${digest}`;
}

function escaped(character: string): string {
  return [...Buffer.from(character, "utf8")].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}

/* Modes of files and folders: conversations are for their owner alone, whatever the umask says. */

export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;
/** What is made from the log and must not be edited. */
export const READ_ONLY_FILE = 0o400;

/** Step by step: where a file system refuses with ENOENT, as /proc does, Node's own recursion never ends. */
export function makeFolder(path: string): void {
  if (isFolder(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: PRIVATE_FOLDER });
  } catch (error) {
    // Another process may have been quicker.
    if (!isFolder(path)) throw error;
  }
}

/** For libraries that open a file with a mode of their own: it is there already, empty, with ours. */
export function makeFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, "a", PRIVATE_FILE));
}

export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

/* Other stores than the home's own whose threads have their files here: `--store` names one for a while. */

const NOTED = "other-stores";

export function noteStore(home: string, target: string): void {
  // Without user, password and parameters.
  const { protocol, host, pathname } = URL.parse(target) ?? {};
  const name = isAbsolute(target) ? target : `${protocol}//${host}${pathname}`;
  const mode = { mode: PRIVATE_FILE };
  if (!notedStores(home).includes(name)) appendFileSync(join(home, NOTED), `${name}\n`, mode);
}

/** Paths of SQLite files, and addresses of servers. */
export function notedStores(home: string): readonly string[] {
  const path = join(home, NOTED);
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
}

/* YAML. The library is loaded at its first use: it takes a tenth of the start, and most commands need no YAML. */

type Yaml = typeof import("yaml");

/** A bundler puts the library in its place; a module as it stands has no `require`. */
declare const require: ((name: "yaml") => Yaml) | undefined;

export function yaml(): Yaml {
  if (typeof require === "function") return require("yaml");
  return process.getBuiltinModule("node:module").createRequire(import.meta.url)("yaml");
}

type ReadYaml =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Plain values, or the problems. The result is a tree of about the size of the file: cyclic and exploding aliases are refused. */
export function readYaml(text: string): ReadYaml {
  if (text.trim() === "") return { kind: "value", value: null };
  const document = yaml().parseDocument(text, { prettyErrors: true, logLevel: "error" });
  if (document.errors.length > 0)
    return { kind: "invalid", problems: document.errors.map(({ message }) => `not valid YAML: ${firstLine(message)}`) };
  try {
    const value: unknown = document.toJS();
    return holdsItself(value, new Set())
      ? invalid("an alias stands inside of what it stands for")
      : { kind: "value", value };
  } catch (error) {
    // The library counts what its aliases come to and stops.
    if (error instanceof ReferenceError) return invalid(`its aliases can't be followed: ${firstLine(error.message)}`);
    if (error instanceof RangeError) return invalid("it is nested too deeply");
    throw error;
  }
}

function holdsItself(value: unknown, around: Set<object>): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (around.has(value)) return true;
  around.add(value);
  const isCyclic = Object.values(value).some((inner) => holdsItself(inner, around));
  around.delete(value);
  return isCyclic;
}

function invalid(problem: string): ReadYaml {
  return { kind: "invalid", problems: [`not usable YAML: ${problem}`] };
}

/** The parser draws the place below its sentence, which names it already. */
function firstLine(message: string): string {
  return message.replace(/\n.*$/s, "").replace(/:$/, "");
}
