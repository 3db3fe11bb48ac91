/** A message as lines for a person: a heading with its role, then its parts. Never used for data. */

import { redactSecrets } from "@palimpsest/core/internal/memory";
import { jsonOr, type Part, type Shape } from "@palimpsest/core/internal/message";
import type { Snippet } from "@palimpsest/core/internal/recall";
import { secretsIn } from "@palimpsest/core/internal/text";
import { plain, printable } from "./output.ts";

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

/*
 * What is shown, without the secrets in it. They are looked for in the messages themselves, and taken out wherever they
 * stand again: in the words of a summary, a title, a past request, escaped or not.
 */

export async function* masked(
  pieces: AsyncIterable<string>,
  messageLines: AsyncIterable<string>,
): AsyncGenerator<string> {
  const secrets = new Set<string>();
  let rest = "";
  for await (const piece of messageLines) {
    const lines = `${rest}${piece}`.split("\n");
    rest = lines.pop()!;
    for (const line of lines) collect(line, secrets);
  }
  collect(rest, secrets);
  const spellings = [...secrets].flatMap((secret) => {
    const inJson = JSON.stringify(secret).slice(1, -1);
    return [secret, inJson, inHtml(secret), inHtml(inJson)];
  });
  const longestFirst = [...new Set(spellings)].sort((a, b) => b.length - a.length);
  const alternatives = longestFirst.map((spelling) => spelling.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|");
  const known = new RegExp(`(?<![\\p{L}\\p{N}])(?:${alternatives})(?![\\p{L}\\p{N}])`, "gu");
  for await (const piece of pieces) {
    const { text } = redactSecrets(piece);
    yield secrets.size === 0 ? text : text.replace(known, "[redacted secret]");
  }
}

function inHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Of a stored message every text, also those in JSON that is kept as text. */
function collect(text: string, secrets: Set<string>): void {
  const value = jsonOr(text, null);
  if (typeof value === "object" && value !== null) collectFrom(value, secrets);
  for (const secret of secretsIn(text)) secrets.add(secret);
}

function collectFrom(value: unknown, secrets: Set<string>): void {
  if (typeof value === "string") collect(value, secrets);
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) collectFrom(part, secrets);
}
