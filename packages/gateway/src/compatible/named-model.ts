/**
 * Whether a body can be read in one way only. Some servers take the first of two fields of a name, and some read names
 * without regard to case: what was checked here must be what they read.
 */
import { repeatedName } from "../http/read-json.ts";

/** `names`: those of the parsed body. Null: it is clear; else what isn't, for the client. */
export async function unclearIn(bytes: Buffer, names: readonly string[]): Promise<string | null> {
  if (names.some((name) => name !== "model" && name.toLowerCase() === "model"))
    return "the body names its model in another spelling";
  const twice = await repeatedName(bytes);
  return twice === null ? null : `the body has ${JSON.stringify(twice.slice(0, 100))} more than once`;
}
