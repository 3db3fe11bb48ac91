/** A message as one line of a list. Pure. */
import { line } from "./format.ts";

interface PartFacts {
  readonly kind: string;
  readonly text: string;
  readonly length: number;
  readonly name?: string;
}

export function lineText(parts: readonly PartFacts[]): string {
  return (
    parts
      .map(partText)
      .filter((text) => text !== "")
      .join("  ") || "(nothing)"
  );
}

function partText({ kind, text, name }: PartFacts): string {
  if (kind === "call") return `${name}(${line(text, 120)})`;
  if (kind === "result") return line(text, 300) || "(no output)";
  if (kind === "text") return line(text, 300);
  if (kind === "reasoning") return text === "" ? "(reasoning)" : `(${line(text, 160)})`;
  return `[${name ?? kind}]`;
}
