/**
 * Peers are dependencies of `bench/` alone. They are loaded by name at run time, so that everything here runs and
 * type-checks without them; a missing one is said with the command that installs it.
 */
export type Loaded<T> =
  | { readonly kind: "loaded"; readonly module: T }
  | { readonly kind: "missing"; readonly what: string };

async function loadPeer<T>(name: string): Promise<Loaded<T>> {
  try {
    return { kind: "loaded", module: (await import(name)) as T };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND") return { kind: "missing", what: `${name} does not load: ${message}` };
    return { kind: "missing", what: `${name} is not installed; npm ci --prefix bench` };
  }
}

/** All of them, or what is missing. */
export async function loadPeers<T extends Readonly<Record<string, unknown>>>(
  names: Readonly<Record<keyof T, string>>,
): Promise<Loaded<T>> {
  const modules: Record<string, unknown> = {};
  for (const [key, name] of Object.entries(names)) {
    const loaded = await loadPeer<unknown>(name);
    if (loaded.kind === "missing") return loaded;
    modules[key] = loaded.module;
  }
  return { kind: "loaded", module: modules as T };
}
