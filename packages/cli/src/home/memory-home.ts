/** The memory that belongs to a home, as the configuration keeps it, opened for one command and one scope. */
import { randomUUID } from "node:crypto";
import type { Home } from "palimpsest/internal/home";
import { checkScope, memoryService } from "palimpsest/internal/memory";
import type { MemoryScope, MemoryService, Repository } from "palimpsest/memory";
import type { Context, Input } from "../command/command.ts";
import { sentence, UsageError } from "../command/failure.ts";
import { withHome } from "./home.ts";

/** The options of every command under `memory`. */
export interface MemoryOptions {
  readonly agent?: string;
}

export interface OpenMemory {
  readonly service: MemoryService;
  readonly scope: MemoryScope;
  /** Null where there are no threads yet: opening a memory doesn't make any. */
  readonly home: Home | null;
}

export async function withMemory<T>(
  { options }: Input<MemoryOptions>,
  context: Context,
  work: (memory: OpenMemory) => Promise<T>,
): Promise<T> {
  const { located } = context;
  const scope = scopeOf(options, context);
  const serve = (repository: Repository) => memoryService({ repository, clock: () => new Date(), ids: randomUUID });
  const { storage_class: kind } = (await located.settings()).memory;
  const needsStore = kind === "sqlite" || kind === "postgres";
  if (!needsStore && !(await located.hasStore()))
    return work({ service: serve(await located.memory(null)), scope, home: null });
  return withHome(context, async (home) => work({ service: serve(await home.memory(home.store)), scope, home }));
}

function scopeOf({ agent }: MemoryOptions, { userId }: Context): MemoryScope {
  const checked = checkScope(userId, agent ?? null);
  if (checked.kind === "invalid") throw new UsageError(`${sentence(checked.problem)}.`);
  return checked.scope;
}
