/**
 * A home made of parts that a program has already: a store, a model, settings. Nothing is looked for on the disk and no
 * environment is read, so that a server can be embedded where there is no home.
 */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { DEFAULT_USER } from "@palimpsest/core/internal/log";
import { openStorage } from "../features/memory/create-memory.ts";
import { openRepository } from "../features/memory/repository.ts";
import { limitsOfHome } from "../models/tokenizers.ts";
import type { Store } from "../stores/store.ts";
import { configuredEmbedding } from "./cost.ts";
import { personHere } from "./find.ts";
import { type Home, type LocatedHome, opened } from "./open-home.ts";
import { type ConfigFile, configSchema } from "./schema.ts";

export interface HomeParts {
  /** It stays its maker's: closing the home doesn't close it. */
  readonly store: Store;
  /** Where threads' files, skills and memory files are kept. */
  readonly directory: string;
  /** A model of the AI SDK for every run that names none of `config.models`. */
  readonly model?: LanguageModelV4 | undefined;
  /** As in `config.yaml`; what is left out has its default. */
  readonly config?: Readonly<Record<string, unknown>> | undefined;
}

/** Throws for a `config` that the file couldn't hold either. */
export function homeOfParts({ store, directory, model, config = {} }: HomeParts): Home {
  const settings: ConfigFile = configSchema.parse(config);
  const { embedder } = settings.recall;
  const located: LocatedHome = {
    directory,
    userId: DEFAULT_USER,
    place: { directory, reason: "option" },
    person: personHere({}),
    configuration: async () => null,
    settings: async () => settings,
    learned: async () => ({ limits: limitsOfHome(directory).read(), now: Date.now() }),
    window: async () => null,
    embedding: async () => (embedder === null ? {} : configuredEmbedding(directory, embedder)),
    storeTarget: async () => "",
    isStoreNamed: false,
    hasStore: async () => true,
    async memory(own) {
      const { storage_path: storagePath, storage_class: storageClass } = settings.memory;
      const options = { base: directory, storagePath, storageClass, ...(own !== null && { store: own }) };
      return openRepository(await openStorage({ ...options, onError: () => {} }), () => new Date());
    },
    open: async () => home,
  };
  const home = withModel(opened(located, heldOpen(store)), model);
  return home;
}

function withModel(home: Home, model: LanguageModelV4 | undefined): Home {
  if (model === undefined) return home;
  return {
    ...home,
    agent: (options = {}) => home.agent({ ...options, model: options.model ?? model }),
    forUser: (user) => withModel(home.forUser(user), model),
  };
}

/** Somebody else's store is not ours to close. */
function heldOpen(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === "close") return async () => {};
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
