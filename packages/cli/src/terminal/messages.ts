/** A message as lines for a person: a heading with its role, then its parts. Never used for data. */

import { redactSecrets } from "@palimpsest/core/memory";
import type { Part, Shape } from "@palimpsest/core/message";
import type { Snippet } from "@palimpsest/core/recall";
import { plain, printable } from "./text.ts";

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

/* The words of a found message that matched, on a terminal. */

/** In bold. Nothing in the text can steer the terminal. */
export function inBold(snippet: Snippet): string {
  return wrapMarks(snippet, (word) => `\u001b[1m${plain(word)}\u001b[22m`, plain);
}

/** As Markdown, for what is rendered later. */
export function inMarkdown(snippet: Snippet): string {
  return wrapMarks(
    snippet,
    (word) => `**${word}**`,
    (rest) => rest,
  );
}

function wrapMarks({ text, marks }: Snippet, wrap: (word: string) => string, other: (rest: string) => string): string {
  let output = "";
  let at = 0;
  for (const [start, end] of marks) {
    output += other(text.slice(at, start)) + wrap(text.slice(start, end));
    at = end;
  }
  return output + other(text.slice(at));
}

/** Why a search has nothing to show. */
export const NOTHING_FOUND = {
  missing: "There is no such thread.",
  "no-terms": "The question has no word that could be looked for: name something that was said.",
  "no-match": "Nothing found.",
} as const;

/* What is shown, without the secrets in it. Each piece is whole: a message, or a part of a page that holds one. */

export async function* masked(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces) yield redactSecrets(piece).text;
}
