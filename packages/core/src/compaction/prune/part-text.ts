/**
 * The words of a part, for finding names in it: a call's input without its JSON escapes, so that "\nfoo" isn't read as
 * "nfoo". Only for reading; nothing is ever sent from here.
 */
import type { Part, Shape } from "../../message/shape.ts";

export function partText(part: Part): string {
  switch (part.kind) {
    case "text":
    case "reasoning":
    case "result":
      return part.text;
    case "call":
      return inputText(part.input);
    case "image":
    case "file":
    case "other":
      return "";
  }
}

export function messageText<M>(message: M, shape: Shape<M>): string {
  return shape.parts(message).map(partText).join("\n");
}

/** All keys and values of a JSON text, a line each; the text itself when it is no JSON. */
export function inputText(input: string): string {
  try {
    const texts: string[] = [];
    collect(JSON.parse(input), texts);
    return texts.join("\n");
  } catch {
    return input;
  }
}

function collect(value: unknown, texts: string[]): void {
  if (typeof value === "string" || typeof value === "number") texts.push(String(value));
  else if (Array.isArray(value)) for (const item of value) collect(item, texts);
  else if (typeof value === "object" && value !== null)
    for (const [key, item] of Object.entries(value)) {
      texts.push(key);
      collect(item, texts);
    }
}
