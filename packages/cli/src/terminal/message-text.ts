/** A message as lines for a person: a heading with its role, then its parts. Never used for data. */
import type { Part, Shape } from "@palimpsest/core/message";
import { printable } from "./terminal-text.ts";

/** `message` is one that the shape's dialect wrote; shapes read nothing else. */
export function writeMessage<M>(message: M, shape: Shape<M>, label: string): string {
  const lines = shape.parts(message).flatMap(partLines);
  return [`${label} ${shape.role(message)}`, ...lines.map((line) => `  ${printable(line)}`), ""].join("\n");
}

function partLines(part: Part): string[] {
  switch (part.kind) {
    case "text":
      return part.text.split("\n");
    case "reasoning":
      return [`(thinking) ${part.text}`];
    case "call":
      return [`-> ${part.name}(${part.input})`];
    case "result":
      return [`<- ${part.isError ? "error: " : ""}${part.text}`].join("\n").split("\n");
    case "image":
      return [`[image ${part.mediaType ?? ""}]`];
    case "file":
      return [`[file ${part.name ?? part.mediaType ?? ""}]`];
    case "other":
      return [part.json];
  }
}
