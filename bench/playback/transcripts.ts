/**
 * The conversations of a transcript file, in any format that can be imported, as messages of one dialect.
 */
import { readFileSync } from "node:fs";
import { convert, type Dialect, detectDialect } from "@palimpsest/core/internal/message";
import { readConversations } from "palimpsest/import";
import { BenchInputError } from "../bench.ts";

export async function transcripts(file: string, dialect: Dialect): Promise<readonly (readonly object[])[]> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    throw new BenchInputError(`Cannot read the transcript ${file}; give the path of a file that exists.`);
  }
  const { conversations } = await readConversations(bytes);
  return conversations.map(({ messages }) => {
    const values = messages.map(({ value }) => value);
    return convert(values as never[], detectDialect(values).dialect, dialect) as readonly object[];
  });
}
