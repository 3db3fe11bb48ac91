/**
 * Reads a text file whole, to change it. What can't be written back byte for byte as it was (binary, not UTF-8, very
 * large) is refused, so that an edit never damages the rest of a file.
 */
import { withFile } from "./inside.ts";
import { isBinary } from "./read-lines.ts";
import { codeOf, ToolFailure } from "./tool-failure.ts";
import { type Place, virtualPath } from "./virtual-path.ts";
import type { Workspace } from "./workspace.ts";

const MAX_EDITED = 16 << 20;

export async function readWhole(workspace: Workspace, place: Place, missing: "or-fail" | "or-empty"): Promise<string> {
  const path = virtualPath(place);
  try {
    return await withFile(workspace, place, async (file, size) => {
      if (size > MAX_EDITED)
        throw new ToolFailure(`${path} has ${size} bytes, too many to edit in place: use bash (sed).`);
      return decode(await file.readFile(), path);
    });
  } catch (error) {
    if (missing === "or-empty" && error instanceof ToolFailure && codeOf(error.cause) === "ENOENT") return "";
    throw error;
  }
}

function decode(bytes: Uint8Array, path: string): string {
  if (isBinary(bytes)) throw new ToolFailure(`${path} is a binary file: it can't be edited as text.`);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ToolFailure(`${path} is not valid UTF-8: editing it as text would damage it. Convert it first.`, {
      cause: error,
    });
  }
}
