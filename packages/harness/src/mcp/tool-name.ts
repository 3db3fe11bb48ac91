/** What a server's tool is called here: the server's name first, so that the log and a person who is asked see whose it is. */

/** What every provider takes. */
const LONGEST = 64;

/** Two tools that would get the same name: the later one is left out and named. */
export function toolNames(
  server: string,
  tools: readonly string[],
): { readonly names: ReadonlyMap<string, string>; readonly clashing: readonly string[] } {
  const names = new Map<string, string>();
  const clashing: string[] = [];
  for (const tool of tools) {
    const name = `${server}_${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, LONGEST);
    if (names.has(name)) clashing.push(tool);
    else names.set(name, tool);
  }
  return { names, clashing };
}
