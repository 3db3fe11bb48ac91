/** A thread as one self-contained page: no script, nothing loaded, readable in light and dark. Every word is escaped. */
import type { Part } from "@palimpsest/core/message";
import type { ExportedMessage } from "./export-thread.ts";

export function htmlHead(title: string): string {
  return `<!doctype html>
<html lang="">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
article { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .5rem 0; }
h2 { font-size: .9rem; margin: 0; opacity: .7; font-weight: 600; }
p, pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; }
pre { background: color-mix(in srgb, currentColor 8%, transparent); padding: .5rem; border-radius: .3rem; font-size: .85rem; }
.reasoning { opacity: .7; font-style: italic; }
</style>
</head>
<body>
<h1>${escaped(title)}</h1>
`;
}

export function htmlMessage({ seq, at, role, parts }: ExportedMessage): string {
  const when = `<time datetime="${escaped(at)}">${escaped(at.slice(0, 16).replace("T", " "))}</time>`;
  return `<article id="m${seq}">\n<h2>${escaped(role)} · #${seq} · ${when}</h2>\n${parts.map(partHtml).join("\n")}\n</article>\n`;
}

export function htmlFoot(): string {
  return "</body>\n</html>\n";
}

function partHtml(part: Part): string {
  switch (part.kind) {
    case "text":
      return `<p>${escaped(part.text)}</p>`;
    case "reasoning":
      return `<p class="reasoning">${escaped(part.text)}</p>`;
    case "call":
      return `<pre>${escaped(`${part.name} ${part.input}`)}</pre>`;
    case "result":
      return `<pre>${escaped(`${part.isError ? "Error: " : ""}${part.text}`)}</pre>`;
    case "image":
      return `<p>(image ${escaped(part.mediaType ?? "")})</p>`;
    case "file":
      return `<p>(file ${escaped(part.name ?? part.mediaType ?? "")})</p>`;
    case "other":
      return `<pre>${escaped(part.json)}</pre>`;
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
