/**
 * Whether a configuration, a home or a working directory may be used. `admitConfig` and `admitHome` gather the facts,
 * `trustStateOf` and `verdictOf` decide. The text that is checked is passed in, so that exactly this text is used later.
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import { HOME_NAME, isFolder, makeFolder, PRIVATE_FILE, PRIVATE_FOLDER, readYaml } from "../home-folders.ts";
import { type ChosenConfig, type ChosenHome, CONFIG_NAME, type HomeOwner, smallText } from "./find.ts";
import { modulesOf, powersOf } from "./powers.ts";

export interface Admission {
  readonly kind: "home" | "config";
  readonly path: string;
  readonly state: TrustState;
  readonly verdict: TrustVerdict;
  /** What it would be allowed to do. */
  readonly powers: readonly Power[];
  /** Notes that the person trusts exactly this content. */
  trust(): void;
  /** Forgets that they did. */
  distrust(): void;
}

/** `home`: what relative paths in the file are seen from. A file that was named, or is the home's own, isn't judged by its words. */
export function admitConfig(
  { path, reason }: ChosenConfig,
  { text, home, person }: { readonly text: string; readonly home: string; readonly person: HomeOwner },
): Admission {
  const facts = { made: false, person, owned: [path] };
  if (reason !== "directory") return admission("config", path, { ...facts, named: true, fingerprint: "", powers: [] });
  const written = writtenIn(text);
  const fingerprint = fingerprintOf({ config: digestOf(text), ...moduleDigests(written, home) });
  return admission("config", path, { ...facts, named: false, fingerprint, powers: powersOf(written) });
}

/** A home that was named is the person's own, so nothing of it is read. */
export function admitHome({ directory, reason }: ChosenHome, person: HomeOwner): Admission {
  const named = reason !== "found" || realPath(directory) === realPath(person.folders.data);
  const made = person.register.read("made", realPath(directory)) === identityOf(directory);
  if (named || made)
    return admission("home", directory, { named, made, fingerprint: "", person, owned: [directory], powers: [] });
  const { config, skills, database, parts, powers } = contentOf(directory);
  return admission("home", directory, {
    named,
    made,
    person,
    powers,
    fingerprint: fingerprintOf(parts),
    owned: [directory, config, skills, database],
  });
}

function contentOf(directory: string) {
  const config = join(directory, CONFIG_NAME);
  const text = smallText(config);
  const written = writtenIn(text);
  const settings = (written ?? {}) as { skills?: { path?: unknown }; rules?: { files?: unknown } };
  const files = [settings.rules?.files ?? []].flat().map((file) => resolve(directory, String(file)));
  const skills = resolve(directory, String(settings.skills?.path ?? "skills"));
  const database = join(directory, "palimpsest.db");
  const folders = entriesOf(skills).filter((entry) => entry.isDirectory());
  const powers: Power[] = [
    ...powersOf(written),
    ...folders.map(
      ({ name }): Power => ({
        kind: "skills",
        key: "skills",
        detail: `give the agent the skill ${JSON.stringify(name)}`,
      }),
    ),
    ...(identityOf(database) === "none"
      ? []
      : [{ kind: "threads", key: "palimpsest.db", detail: "let its threads and memory into your prompts" } as const]),
  ];
  const parts = {
    config: fileDigest(config),
    skills: folderDigest(skills),
    ...(files.length > 0 && { rules: files.map(fileDigest).join() }),
    database: identityOf(database),
    ...moduleDigests(written, directory),
  };
  return { config, skills, database, parts, powers };
}

interface TrustFacts {
  readonly named: boolean;
  readonly made: boolean;
  readonly fingerprint: string;
  readonly person: HomeOwner;
  /** Whose owner counts. */
  readonly owned: readonly string[];
  readonly powers: readonly Power[];
}

function admission(kind: Admission["kind"], path: string, gathered: TrustFacts): Admission {
  const { named, made, fingerprint, person, owned, powers } = gathered;
  const place = realPath(path);
  const trusted = person.register.read("trusted", place);
  const state = trustStateOf({ named, made, trusted, fingerprint, owner: ownerOf(owned, person.uid) });
  return {
    kind,
    path,
    state,
    powers,
    verdict: verdictOf(state, { kind, powers }),
    trust: () => person.register.write("trusted", place, fingerprint),
    distrust: () => person.register.remove("trusted", place),
  };
}

/** A file that can't be read as YAML has no power; reading it fails later with a sentence. */
function writtenIn(text: string): unknown {
  const read = readYaml(text);
  return read.kind === "value" ? read.value : null;
}

/** Another content of the module is another code. */
function moduleDigests(written: unknown, base: string): Record<string, string> {
  const named = modulesOf(written).map((module) => resolve(base, module.replace(/#.*$/s, "")));
  return Object.fromEntries(named.map((path) => [`module ${path}`, fileDigest(path)]));
}

/** Follows the file's or home's name. */
export function refusalOf({ kind, path, state, powers }: Admission): string {
  const instead = kind === "home" ? "--home DIR" : "--config FILE";
  if (state === "other-user")
    return `belongs to another user of this machine: it is not used; name your own with ${instead}`;
  const allowed = powers.length === 0 ? "" : `; it would ${powers.map(({ detail }) => detail).join(", ")}`;
  const why = state === "changed" ? "has changed since you trusted it" : "was found here and is not known to be yours";
  return `${why}${allowed}. Look at it, then "palimpsest trust ${quoted(path)}" allows exactly this content; or name your own with ${instead}`;
}

function quoted(path: string): string {
  return /[^\w./-]/.test(path) ? `'${path.replaceAll("'", "'\\''")}'` : path;
}

export interface TrustEvidence {
  /** Named on the command line or in the environment, or the person's one home. */
  readonly named: boolean;
  /** Who owns its files on this machine; root counts as the person, since it can do anything anyway. */
  readonly owner: "self" | "other";
  /** We made it ourselves, and it is the same one still. */
  readonly made: boolean;
  /** The content that was trusted; null: none was. */
  readonly trusted: string | null;
  /** The content there is. */
  readonly fingerprint: string;
}

type TrustState = "own" | "trusted" | "changed" | "unknown" | "other-user";

export function trustStateOf({ named, owner, made, trusted, fingerprint }: TrustEvidence): TrustState {
  if (named) return "own";
  if (owner === "other") return "other-user";
  if (made) return "own";
  if (trusted === null) return "unknown";
  return trusted === fingerprint ? "trusted" : "changed";
}

/** Something a configuration or home would be allowed to do, in words that follow "it would". */
export interface Power {
  readonly kind:
    | "code"
    | "key"
    | "address"
    | "host"
    | "files"
    | "environment"
    | "deletes"
    | "prompt"
    | "approval"
    | "skills"
    | "threads";
  /** Where it says so: `memory.storage_class`. */
  readonly key: string;
  readonly detail: string;
}

type TrustVerdict = "use" | "ask" | "refuse";

/** A configuration without any power needs no trust; a home always does, since its threads and skills are prompts. */
export function verdictOf(
  state: TrustState,
  { powers, kind }: { readonly powers: readonly Power[]; readonly kind: "home" | "config" },
): TrustVerdict {
  switch (state) {
    case "own":
    case "trusted":
      return "use";
    case "other-user":
      return "refuse";
    case "changed":
    case "unknown":
      return kind === "config" && powers.length === 0 ? "use" : "ask";
  }
}

/* Fingerprints: digests of files and folders, the identity of a database, its owner. */

function digestOf(bytes: string | Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** One digest of named parts, whatever their order. */
function fingerprintOf(parts: Readonly<Record<string, string>>): string {
  return digestOf(JSON.stringify(Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1))));
}

function fileDigest(path: string): string {
  try {
    // Reading a pipe would block without end.
    return statSync(path).isFile() ? digestOf(readFileSync(path)) : "none";
  } catch {
    return "none";
  }
}

/** Every file under a folder by name and content; a link by where it leads. */
function folderDigest(folder: string): string {
  return fingerprintOf(Object.fromEntries(filesUnder(folder, "")));
}

function filesUnder(folder: string, inside: string): [string, string][] {
  return entriesOf(join(folder, inside)).flatMap((entry): [string, string][] => {
    const name = join(inside, entry.name);
    const path = join(folder, name);
    if (entry.isDirectory()) return filesUnder(folder, name);
    return [[name, entry.isSymbolicLink() ? `link ${readlinkSync(path)}` : fileDigest(path)]];
  });
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/**
 * The same file or folder however much is written to it, and another one when it was replaced: file systems give a freed
 * number away again, but not with the same time of birth.
 */
function identityOf(path: string): string {
  try {
    const { ino, birthtimeNs } = statSync(path, { bigint: true });
    return `${ino}:${birthtimeNs}`;
  } catch {
    return "none";
  }
}

/** Of those that exist, all belong to the person or to root. */
function ownerOf(paths: readonly string[], uid: number | null): "self" | "other" {
  const strange = (path: string): boolean => {
    try {
      // A link and what it leads to.
      return [lstatSync(path), statSync(path)].some((stats) => ![uid, 0].includes(stats.uid));
    } catch {
      // What isn't there has no owner.
      return false;
    }
  };
  return uid !== null && paths.some(strange) ? "other" : "self";
}

/** As it is without links; a path that isn't there stays as it is. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const IGNORE = ".gitignore";

/**
 * Makes a home, or restricts an existing one to its owner: private modes, a `.gitignore`, and a note in the register. If the
 * directory is used for other things too, only our own files are restricted.
 */
export function makeHome({ directory, reason }: ChosenHome, person: HomeOwner): void {
  const isNew = !existsSync(directory);
  // Where it can't be made, opening something in it says why.
  if (isNew) attempt(() => makeFolder(directory));
  if (!isFolder(directory)) return;
  const isHomeAlone = isNew || basename(directory) === HOME_NAME || reason === "user";
  for (const name of FOLDERS) tighten(join(directory, name), PRIVATE_FOLDER, person);
  for (const name of FILES) tighten(join(directory, name), PRIVATE_FILE, person);
  if (!isHomeAlone) return;
  tighten(directory, PRIVATE_FOLDER, person);
  if (!existsSync(join(directory, IGNORE)))
    attempt(() => writeFileSync(join(directory, IGNORE), "*\n", { mode: PRIVATE_FILE }));
  if (isNew && basename(directory) === HOME_NAME)
    // A home that can't be noted is asked about later, no more.
    attempt(() => person.register.write("made", realPath(directory), identityOf(directory)));
}

/** A copied or restored home may be readable for others; a private folder protects everything in it. */
const FOLDERS = ["threads", "users", "agents"];
const FILES = ["palimpsest.db", "palimpsest.db-wal", "palimpsest.db-shm", "learned-limits.json"];

function tighten(path: string, mode: number, { uid }: HomeOwner): void {
  attempt(() => {
    const stats = statSync(path);
    if ((uid === null || stats.uid === uid) && (stats.mode & 0o077) !== 0) chmodSync(path, mode);
  });
}

/** On a read-only disk nothing can be made, tightened or noted: no reason to stop somebody who only reads. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // Said above.
  }
}

export type WorkspaceAdmission =
  | { readonly kind: "missing" | "other-user" | "holds-home"; readonly directory: string }
  /** `directory` is free of links. */
  | { readonly kind: "use"; readonly directory: string; distrust(): void }
  | { readonly kind: "ask"; readonly directory: string; trust(): void };

export function admitWorkspace(
  path: string,
  { home, person }: { readonly home: string; readonly person: HomeOwner },
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
