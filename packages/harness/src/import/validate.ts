/**
 * Says what makes an imported message unusable: what its dialect's shape couldn't read, and unknown block types. A
 * running conversation carries unknown blocks along; a file with one is more likely damaged or of another dialect, and
 * the import should report it. Judges one message at a time: how they stand together the view repairs.
 */
import { type Dialect, definitionOf, isNestedTooDeeply, readMessage, shapeOf } from "@palimpsest/core/internal/message";
import type { ImportedMessage, Problem } from "./conversation.ts";

/** Null if the message is valid. `carry`: unknown blocks are kept unchanged. */
export function messageProblem(
  message: Readonly<Record<string, unknown>>,
  dialect: Dialect,
  unknown: "name" | "carry" = "name",
): string | null {
  const read = readMessage(dialect, message);
  if (read.kind === "problem") return read.detail;
  return unknown === "carry" ? null : definitionOf(dialect).unknownBlock(message);
}

/** Messages are walked recursively when sent or shown: one that overflows the stack would block its thread forever. */
export function nestingProblem(body: string): string | null {
  return isNestedTooDeeply(body) ? "it is nested too deeply to be sent or shown" : null;
}

/** Tool results without a call: they are kept, and the view repairs them. `called`: what was called before, added to. */
export function strayResults(
  messages: readonly ImportedMessage[],
  dialect: Dialect,
  called = new Set<string>(),
): Problem[] {
  const shape = shapeOf<object>(dialect);
  // Every message has passed `messageProblem`.
  return messages.flatMap(({ place, value: message }) => {
    for (const id of shape.calls(message)) called.add(id);
    return shape
      .answers(message)
      .filter((id) => !called.has(id))
      .map((id) => ({
        place,
        message: `the tool result ${JSON.stringify(id)} has no call before it; the view repairs it`,
      }));
  });
}
