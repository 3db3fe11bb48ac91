/** A notebook as Markdown: its texts, its code, and what the code printed. */

interface Cell {
  readonly cell_type?: unknown;
  readonly source?: unknown;
  readonly outputs?: unknown;
}

export function* notebookMarkdown(bytes: Buffer): Generator<string> {
  const { cells } = JSON.parse(bytes.toString("utf8")) as { readonly cells?: unknown };
  if (!Array.isArray(cells)) throw new Error("it has no cells");
  for (const { cell_type, source, outputs } of cells as Cell[]) {
    const text = joined(source);
    if (cell_type === "code") {
      yield `${fenced(text, "python")}\n\n`;
      const printed = Array.isArray(outputs) ? outputs.map(outputText).filter((one) => one !== "") : [];
      for (const one of printed) yield `${fenced(one, "")}\n\n`;
    } else yield `${text}\n\n`;
  }
}

function outputText(output: unknown): string {
  const { text, data } = (output ?? {}) as { readonly text?: unknown; readonly data?: Record<string, unknown> };
  return joined(text ?? data?.["text/plain"]);
}

/** A text, or its lines. */
function joined(source: unknown): string {
  if (typeof source === "string") return source;
  return Array.isArray(source) ? source.filter((line) => typeof line === "string").join("") : "";
}

function fenced(code: string, language: string): string {
  return `\`\`\`${language}\n${code.replaceAll("```", "'''")}\n\`\`\``;
}
