/**
 * Whether a configuration or a home may be used as it is: gathers what `trust/trust-state.ts` decides on. The text that is
 * judged is the text that is then used, so it is an argument.
 */
import { join, resolve } from "node:path";
import type { ChosenHome } from "./choose-home.ts";
import {
  digestOf,
  entriesOf,
  fileDigest,
  fingerprintOf,
  folderDigest,
  identityOf,
  ownerOf,
  realPath,
} from "./content.ts";
import { type ChosenConfig, CONFIG_NAME, smallText } from "./find.ts";
import type { Person } from "./person.ts";
import { modulesOf, powersOf } from "./powers.ts";
import { readYaml } from "./read-yaml.ts";
import { type Power, type TrustState, trustStateOf, type Verdict, verdictOf } from "./trust-state.ts";

export interface Admission {
  readonly kind: "home" | "config";
  readonly path: string;
  readonly state: TrustState;
  readonly verdict: Verdict;
  /** What it would be allowed to do. */
  readonly powers: readonly Power[];
  /** Notes that the person trusts exactly this content. */
  trust(): void;
  /** Forgets that they did. */
  distrust(): void;
}

/** `home`: what relative paths in the file are seen from. */
export function admitConfig(
  { path, reason }: ChosenConfig,
  { text, home, person }: { readonly text: string; readonly home: string; readonly person: Person },
): Admission {
  const written = writtenIn(text);
  const fingerprint = fingerprintOf({ config: digestOf(text), ...moduleDigests(written, home) });
  // The home's own file is judged with its home.
  const named = reason !== "directory";
  return admission("config", path, {
    named,
    made: false,
    fingerprint,
    person,
    owned: [path],
    powers: powersOf(written),
  });
}

/** A home that was named is the person's own, so nothing of it is read. */
export function admitHome({ directory, reason }: ChosenHome, person: Person): Admission {
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
  const settings = (written ?? {}) as { skills?: { path?: unknown } };
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
    database: identityOf(database),
    ...moduleDigests(written, directory),
  };
  return { config, skills, database, parts, powers };
}

interface Gathered {
  readonly named: boolean;
  readonly made: boolean;
  readonly fingerprint: string;
  readonly person: Person;
  /** Whose owner counts. */
  readonly owned: readonly string[];
  readonly powers: readonly Power[];
}

function admission(kind: Admission["kind"], path: string, gathered: Gathered): Admission {
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
  const named = modulesOf(written).map((module) => resolve(base, module.split("#")[0]!));
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
