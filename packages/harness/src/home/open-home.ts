/**
 * Opens a configured home for a command, the chat, a server or an adapter. `locateHome` says which
 * home and which configuration are meant and reads them only as far as they are asked for; `openHome` also opens the
 * store. What isn't known to be the person's own is used only after `trust` said yes. Parts that are slow to load
 * are loaded when they are first asked for, so that a short command stays short.
 */
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DEFAULT_USER } from "@palimpsest/core/internal/log";
import type { LearnedLimits } from "@palimpsest/core/internal/tokens";
import type { EraseDeps } from "../features/memory/erase-message.ts";
import type { Repository } from "../features/memory/repository.ts";
import { noteStore } from "../home-folders.ts";
import { asUser } from "../stores/driver-rules.ts";
import { openStore, storeTarget } from "../stores/open.ts";
import type { Store } from "../stores/store.ts";
import { SYSTEM_DEPS, type ThreadDeps } from "../thread/writer.ts";
import type { RequestWindow, WarningListener } from "./config.ts";
import type { ChargedUse, HomeEmbedding, ThreadCost, UseTotal } from "./cost.ts";
import {
  type ChosenConfig,
  type ChosenHome,
  CONFIG_NAME,
  type ConfigQuestion,
  chooseConfig,
  chooseHome,
  HomeError,
  type HomeOwner,
  isFile,
  personHere,
  smallText,
  upwards,
} from "./find.ts";
import type { ConfiguredAgent, ConfiguredAgentOptions } from "./from-config.ts";
import type { ConfigFile } from "./schema.ts";
import { type Admission, admitHome, makeHome, refusalOf } from "./trust.ts";

export { HomeError };

export interface HomeOptions {
  /** A directory. Without it: `PALIMPSEST_HOME`, the nearest `.palimpsest` above `cwd`, else the person's own. */
  readonly home?: string | null;
  /** A file. Without it: `PALIMPSEST_CONFIG`, the home's, else one near `cwd` that is recognizably ours. */
  readonly config?: string | null;
  /** A URL or the path of a SQLite file, seen from `cwd`. Without it the configuration says where the threads are. */
  readonly store?: string | null;
  /** Whose threads and memory; another's are not there. */
  readonly userId?: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `read`: nothing is written, so it also works where nothing can be. */
  readonly access?: "read" | "write";
  /** Asked about a home or configuration that was found and isn't known to be the person's; without it it is refused. */
  readonly trust?: (admission: Admission) => Promise<boolean>;
  /** What is doubtful in the configuration and stops nothing. */
  readonly onWarning?: WarningListener;
  /** What failed and has a stand-in, such as a storage that can't be loaded. */
  readonly onError?: (text: string) => void;
}

/** A home before anything of it is opened. Everything is found and read once. */
export interface LocatedHome {
  readonly directory: string;
  readonly userId: string;
  /** The directory, and why it is this one. */
  readonly place: ChosenHome;
  readonly person: HomeOwner;
  /** Null: there is none, the defaults are used. */
  configuration(): Promise<ChosenConfig | null>;
  settings(): Promise<ConfigFile>;
  /** Windows that providers have stated, as the home's file has them, and the time now. */
  learned(): Promise<{ readonly limits: LearnedLimits; readonly now: number }>;
  /** The window of the default model; null where nothing is configured. */
  window(): Promise<RequestWindow | null>;
  /** For a search: the embedder of the configuration, if it has one. */
  embedding(): Promise<HomeEmbedding>;
  /** A URL, or the path of a SQLite file. */
  storeTarget(): Promise<string>;
  /** Whether it is another than the home's own. */
  readonly isStoreNamed: boolean;
  /** Whether opening it would find something: a database server always may, a file only where it is. */
  hasStore(): Promise<boolean>;
  /** The memory as the configuration keeps it; without a store only one that needs none. */
  memory(store: Store | null): Promise<Repository>;
  /** Opens the store, and creates the home where it is missing. */
  open(): Promise<Home>;
}

/** An open home is also what every act on a thread needs. */
export interface Home extends LocatedHome, ThreadDeps {
  /** The agent the configuration describes. To be closed with its memory, so that the last turns are learned. */
  agent(options?: HomeAgentOptions): Promise<ConfiguredAgent>;
  /** What a thread has cost so far; null where no call has a price. */
  cost(threadId: string): Promise<ThreadCost | null>;
  /** How many calls a thread was charged for, for what, and what they took; whether or not they have a price. */
  charges(threadId: string): Promise<Readonly<Record<ChargedUse, UseTotal>>>;
  /** Waits until what its agents' runs have said is embedded, for ten seconds at most. */
  embedded(): Promise<void>;
  /** What erasing needs: threads, what was learned from them, and their files. */
  eraseDeps(): Promise<EraseDeps>;
  /** The same home as another user sees it; closing one closes both. */
  forUser(userId: string): Home;
  /** Also stops the memory of the agents it made; what they haven't learned stays queued. */
  close(): Promise<void>;
}

export interface HomeAgentOptions extends Omit<ConfiguredAgentOptions, "home" | "config" | "store" | "onWarning"> {
  /** Gets a line of what happens, as far as `log_level` asks for it. */
  readonly log?: (line: string) => void;
  /** Everything that is worth a line, whatever `log_level` says. */
  readonly verbose?: boolean;
}

export function openHome(options: HomeOptions): Promise<Home> {
  return locateHome(options).open();
}

export function locateHome(options: HomeOptions): LocatedHome {
  const { cwd, env, access = "write", userId = DEFAULT_USER } = options;
  const person = personHere(env);
  const place = chooseHome({
    option: options.home ?? null,
    env,
    cwd,
    userHome: person.folders.data,
    isDirectory: (path) => existsSync(path) && statSync(path).isDirectory(),
  });
  const { directory } = place;
  const admit = (admission: Admission) => admitted(admission, options.trust);
  const admittedHome = once(async () => {
    requireDirectory(directory);
    return admit(admitHome(place, person));
  });
  const configuration = once(() => findConfig({ option: options.config ?? null, env, home: directory, cwd }));
  const settings = once(async () => {
    const { readSettings } = await import("./config.ts");
    await admittedHome();
    const chosen = await configuration();
    return readSettings(chosen, { home: directory, person, env, admit, onWarning: options.onWarning });
  });
  const target = once(async () => {
    await admittedHome();
    if (options.store != null) return storeTarget(options.store, cwd);
    if ((await configuration()) === null) return storeTarget(null, directory);
    return storeTarget((await settings()).store.url, directory);
  });
  const listenAddress = async () => ((await configuration()) === null ? null : (await settings()).store.listen_url);
  const located: LocatedHome = {
    directory,
    userId,
    place,
    person,
    configuration,
    settings,
    storeTarget: target,
    isStoreNamed: options.store != null,
    hasStore: async () => isStoreThere(await target()),
    async learned() {
      const { limitsOfHome } = await import("../models/tokenizers.ts");
      return { limits: limitsOfHome(directory).read(), now: Date.now() };
    },
    async window() {
      if ((await configuration()) === null) return null;
      const { requestWindow } = await import("./config.ts");
      return requestWindow(await settings(), undefined, await located.learned());
    },
    embedding: once(() => embeddingOf({ directory, configuration, settings }, options.onError)),
    async memory(store) {
      const [{ openStorage }, { openRepository }] = await Promise.all([
        import("../features/memory/create-memory.ts"),
        import("../features/memory/repository.ts"),
      ]);
      const { memory } = await settings();
      // One beside the threads has its home; one that only reads makes none.
      if (store === null && access === "write") makeHome(place, person);
      const storage = await openStorage({
        base: directory,
        storagePath: memory.storage_path,
        storageClass: memory.storage_class,
        ...(store !== null && { store }),
        onError: (message) => options.onError?.(message),
      });
      return openRepository(storage, () => new Date());
    },
    async open() {
      const path = await target();
      const isNew = !isStoreThere(path);
      if (dirname(path) === directory) makeHome(place, person);
      const listenUrl = options.store == null ? await listenAddress() : null;
      const store = await openStore(path, { access, listenUrl });
      try {
        // The database is part of what was trusted, and this one is ours.
        if (isNew && (await admittedHome()).state === "trusted") admitHome(place, person).trust();
      } catch (error) {
        await store.close();
        throw error;
      }
      return opened(located, store);
    },
  };
  return located;
}

/** The schema is loaded only if a file near the working directory has the right name. */
async function findConfig(question: ConfigQuestion): Promise<ChosenConfig | null> {
  const near = upwards(question.cwd).some((folder) => isFile(join(folder, CONFIG_NAME)));
  const isOurs = near ? (await import("./config.ts")).isOurs : () => false;
  return chooseConfig(question, { exists: isFile, isOurs: (path) => isOurs(smallText(path)) });
}

async function embeddingOf(
  { directory, configuration, settings }: Pick<LocatedHome, "directory" | "configuration" | "settings">,
  onError: HomeOptions["onError"],
): Promise<HomeEmbedding> {
  if ((await configuration()) === null) return {};
  // Where the store is named, the configuration is not read yet, and a search can do without it.
  const embedder = await settings().then(
    ({ recall }) => recall.embedder,
    () => null,
  );
  // Hits are then ordered by words alone.
  if (embedder === null) return {};
  const { configuredEmbedding } = await import("./cost.ts");
  return configuredEmbedding(directory, embedder, onError);
}

/** `made`: the agents of this home, of all users. */
export function opened(located: LocatedHome, store: Store, made: ConfiguredAgent[] = []): Home {
  const { directory, place, person, userId } = located;
  const deps: ThreadDeps = { ...SYSTEM_DEPS, store: asUser(store, userId) };
  const home: Home = {
    ...located,
    ...deps,
    async agent({ log, verbose = false, ...options } = {}) {
      const { createAgentFromConfig, eventLog } = await import("./from-config.ts");
      const config = await located.settings();
      const logged = log === undefined ? () => {} : eventLog(config, { line: log, verbose });
      // Its files are kept there, wherever the threads are.
      makeHome(place, person);
      if (located.isStoreNamed) noteStore(directory, await located.storeTarget());
      const assistant = await createAgentFromConfig({
        ...options,
        home: directory,
        config,
        store: deps.store,
        onMemory: options.onMemory ?? logged,
        onWarning: (text) => log?.(`warning: ${text}`),
        onEvent(event, ...where) {
          logged(event);
          options.onEvent?.(event, ...where);
        },
      });
      made.push(assistant);
      return assistant;
    },
    async cost(threadId) {
      const { threadCost } = await import("./cost.ts");
      return threadCost(deps.store, threadId, { config: await located.settings(), home: directory });
    },
    async charges(threadId) {
      const { chargesOf, totalsByUse } = await import("./cost.ts");
      return totalsByUse(chargesOf(directory, deps.store, threadId));
    },
    async embedded() {
      const { embedder } = made.length === 0 ? {} : await located.embedding();
      if (embedder === undefined) return;
      const { untilEmbedded } = await import("../recall/indexing.ts");
      await untilEmbedded(embedder, EMBEDDING_MS);
    },
    async eraseDeps() {
      const { cleanThreadFiles } = await import("./home-acts.ts");
      const cleanFiles = (threadId: string) => cleanThreadFiles(directory, deps.store, threadId);
      return { deps, repository: await located.memory(deps.store), cleanFiles };
    },
    forUser: (other) => (other === userId ? home : opened({ ...located, userId: other }, store, made)),
    async close() {
      // A queue that still runs would ask a store that is gone; a server would outlive whom it serves.
      const ends = made.flatMap(({ memory, disconnect }) => [memory?.queue.stop(), disconnect()]);
      await Promise.all([...ends, home.embedded()]);
      await store.close();
    },
  };
  return home;
}

/** What was said last in a short process is embedded before it ends, if that takes no longer than this. */
const EMBEDDING_MS = 10_000;

export function isStoreThere(target: string): boolean {
  return /^[a-z][a-z0-9+.-]+:/i.test(target) || existsSync(target);
}

export function requireDirectory(home: string): void {
  if (existsSync(home) && !statSync(home).isDirectory())
    throw new HomeError("home-not-a-directory", `${home} is a file, not a directory: choose another --home.`);
}

async function admitted(admission: Admission, trust: HomeOptions["trust"]): Promise<Admission> {
  if (admission.verdict === "use") return admission;
  if (admission.verdict === "ask" && (await trust?.(admission)) === true) {
    admission.trust();
    return admission;
  }
  throw new HomeError("untrusted", `${admission.path} ${refusalOf(admission)}.`);
}

function once<T>(find: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | null = null;
  return () => {
    known ??= find();
    return known;
  };
}
