/** The memory that belongs to a home, as the configuration keeps it, opened for one command and one scope. */
import { randomUUID } from "node:crypto";
import { cleanThreadFiles } from "palimpsest/assistant";
import {
  checkScope,
  type EraseKit,
  type MemoryScope,
  type MemoryService,
  memoryService,
  openRepository,
  openStorage,
  type Repository,
} from "palimpsest/memory";
import type { Store } from "palimpsest/stores";
import type { ThreadDeps } from "palimpsest/threads";
import { makeHome, personHere } from "palimpsest/trust";
import type { Context, Input } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { standsAlready, storeOf, withHome } from "./home.ts";
import { loadSettings } from "./settings.ts";

export interface OpenMemory {
  readonly repository: Repository;
  readonly service: MemoryService;
  readonly scope: MemoryScope;
  /** Null where there are no threads yet: opening a memory doesn't make any. */
  readonly deps: ThreadDeps | null;
}

export async function withMemory<T>(
  { options }: Input,
  context: Context,
  work: (memory: OpenMemory) => Promise<T>,
): Promise<T> {
  const scope = scopeOf(options, context);
  const { memory } = await loadSettings(context);
  const open = async (store: Store | null): Promise<Pick<OpenMemory, "repository" | "service">> => {
    const repository = await repositoryOf(context, store);
    return { repository, service: memoryService({ repository, clock, ids: randomUUID }) };
  };
  const needsStore = memory.storage_class === "sqlite" || memory.storage_class === "postgres";
  if (!needsStore && !standsAlready(await storeOf(context))) {
    if (context.access === "write") makeHome(context.place, personHere());
    return work({ ...(await open(null)), scope, deps: null });
  }
  return withHome(context, async (deps) => work({ ...(await open(deps.store)), scope, deps }));
}

const clock = () => new Date();

async function repositoryOf(context: Context, store: Store | null): Promise<Repository> {
  const { memory } = await loadSettings(context);
  const storage = await openStorage({
    base: context.home,
    storagePath: memory.storage_path,
    storageClass: memory.storage_class,
    ...(store !== null && { store }),
    onError: (message) => context.output.note(`error: ${message}`),
  });
  return openRepository(storage, clock);
}

/** What erasing needs: threads, what was learned from them, and their files. */
export async function eraseKit(context: Context, deps: ThreadDeps): Promise<EraseKit> {
  const cleanFiles = (thread: string) => cleanThreadFiles(context.home, deps.store, thread);
  return { deps, repository: await repositoryOf(context, deps.store), cleanFiles };
}

function scopeOf({ agent }: Input["options"], { user }: Context): MemoryScope {
  const checked = checkScope(user, typeof agent === "string" ? agent : null);
  if (checked.kind === "invalid")
    throw new UsageError(`${checked.problem[0]!.toUpperCase()}${checked.problem.slice(1)}.`);
  return checked.scope;
}
