/**
 * What can be wrong with a home, as a list of checks that each say what to do. Looks at everything even when something
 * fails. With `repair` it also rewrites every head that differs from its log; the log itself is never touched.
 */
import { existsSync } from "node:fs";
import { loadConfig } from "../config/load.ts";
import { windowOf } from "../models/window.ts";
import type { Store } from "../stores/store.ts";
import { rebuildHead } from "../threads/audit.ts";

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface DoctorOptions {
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opens the home's store; throws what makes it unusable. */
  readonly open: () => Store;
  readonly heads: "skip" | "repair";
}

export async function examine(options: DoctorOptions): Promise<Check[]> {
  const checks = configChecks(options);
  if (!existsSync(options.home))
    return [
      ...checks,
      { name: "home", ok: true, detail: `${options.home} is not there yet: the first import or run creates it` },
    ];
  try {
    const store = options.open();
    try {
      checks.push({ name: "home", ok: true, detail: options.home });
      const engine = await store.check();
      checks.push({ name: "database", ok: engine.ok, detail: engine.detail });
      checks.push(...(await threadChecks(store, options.heads)));
    } finally {
      await store.close();
    }
  } catch (error) {
    checks.push({ name: "database", ok: false, detail: error instanceof Error ? error.message : String(error) });
  }
  return checks;
}

function configChecks({ home, cwd, env }: DoctorOptions): Check[] {
  const loaded = loadConfig({ home, cwd, env });
  const where = loaded.path ?? "no config.yaml, the defaults";
  if (loaded.kind === "invalid")
    return [{ name: "config", ok: false, detail: `${where}: ${loaded.problems.join("; ")}` }];
  const { models, summarization } = loaded.config;
  const windows = models.map((model) => {
    const { tokens, source } = windowOf(model, summarization.fallback_context_window);
    return `${model.name}: ${tokens} tokens ${WINDOW_SOURCES[source]}`;
  });
  return [
    { name: "config", ok: true, detail: [where, ...loaded.warnings].join("; ") },
    ...(windows.length === 0 ? [] : [{ name: "windows", ok: true, detail: windows.join("; ") }]),
  ];
}

const WINDOW_SOURCES = {
  config: "(max_input_tokens)",
  table: "(known for this model)",
  fallback: "(fallback_context_window; set max_input_tokens)",
};

async function threadChecks(store: Store, heads: "skip" | "repair"): Promise<Check[]> {
  const checks: Check[] = [];
  let count = 0;
  let different = 0;
  for await (const thread of everyThread(store)) {
    count += 1;
    if (heads === "skip") continue;
    const check = await headCheck(store, thread);
    if (check === null) continue;
    different += 1;
    checks.push(check);
  }
  const detail =
    heads === "skip" ? `${count} threads` : `${count} threads, ${count - different} heads equal to their logs`;
  return [{ name: "threads", ok: different === 0, detail }, ...checks];
}

/** Null when the head is what its log says. */
async function headCheck(store: Store, thread: string): Promise<Check | null> {
  const name = `head of ${thread}`;
  try {
    const result = await rebuildHead({ store }, thread, "write");
    if (result.kind === "different")
      return { name, ok: false, detail: `differed in ${result.fields.join(", ")}; rewritten from the log` };
    if (result.kind === "conflict")
      return { name, ok: false, detail: "the thread was written to meanwhile: run doctor again when no run is active" };
    return null;
  } catch (error) {
    return { name, ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

async function* everyThread(store: Store): AsyncGenerator<string> {
  let after: string | null = null;
  do {
    const page = await store.threads({ order: "created", limit: 500, ...(after !== null && { after }) });
    for (const { header } of page.threads) yield header.id;
    after = page.next;
  } while (after !== null);
}
