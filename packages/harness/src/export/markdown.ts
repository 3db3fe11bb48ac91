/** A thread as Markdown. What was said stands as it was said; calls and results stand in fences no text can close. */
import type { Part } from "@palimpsest/core/internal/message";
import type { ExportedMessage } from "./export-thread.ts";

export function markdownHead(title: string): string {
  return `# ${title.replaceAll(/\s+/g, " ")}\n`;
}

export function markdownMessage({ seq, at, role, parts }: ExportedMessage): string {
  const when = at.slice(0, 16).replace("T", " ");
  return `\n## ${role} · #${seq} · ${when}\n\n${parts.map(partText).join("\n\n")}\n`;
}

function partText(part: Part): string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "reasoning":
      return part.text.replaceAll(/^/gm, "> ");
    case "call":
      return `\`${part.name}\`\n\n${fenced(part.input, "json")}`;
    case "result":
      return `${part.isError ? "Error:" : "Result:"}\n\n${fenced(part.text, "")}`;
    case "image":
      return `(image${part.mediaType === undefined ? "" : ` ${part.mediaType}`})`;
    case "file":
      return `(file ${part.name ?? part.mediaType ?? ""})`;
    case "other":
      return fenced(part.json, "json");
  }
}

/** Longer than any run of backticks inside. */
function fenced(text: string, language: string): string {
  const longest = Array.from(text.matchAll(/`+/g)).reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
