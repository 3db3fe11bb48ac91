/** A notebook as Markdown: its texts, its code, and what the code printed. */

interface Cell {
  readonly cell_type?: unknown;
  readonly source?: unknown;
  readonly outputs?: unknown;
}

export function notebookMarkdown(json: string): string {
  const { cells } = JSON.parse(json) as { readonly cells?: unknown };
  if (!Array.isArray(cells)) throw new Error("it has no cells");
  return (cells as Cell[])
    .map((cell) => {
      const text = joined(cell.source);
      if (cell.cell_type !== "code") return text;
      const printed = Array.isArray(cell.outputs) ? cell.outputs.map(outputText).filter((one) => one !== "") : [];
      return [fenced(text, "python"), ...printed.map((one) => fenced(one, ""))].join("\n\n");
    })
    .join("\n\n");
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
