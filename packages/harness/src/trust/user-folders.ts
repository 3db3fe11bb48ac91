/** Where a person's own things are, by the XDG rules: what they keep, what programs note about them, what can be made anew. */
import { isAbsolute, join } from "node:path";

export interface UserFolders {
  readonly data: string;
  readonly state: string;
}

/** A variable that is no absolute path is to be ignored, say the rules. */
export function userFolders(
  env: Readonly<Record<string, string | undefined>>,
  { homeDirectory }: { readonly homeDirectory: string },
): UserFolders {
  const folder = (variable: string, ...standard: readonly string[]): string => {
    const given = env[variable] ?? "";
    return join(isAbsolute(given) ? given : join(homeDirectory, ...standard), "palimpsest");
  };
  return {
    data: folder("XDG_DATA_HOME", ".local", "share"),
    state: folder("XDG_STATE_HOME", ".local", "state"),
  };
}
