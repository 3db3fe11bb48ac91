/** A thread as one self-contained page: no script, nothing loaded, readable in light and dark. Every word is escaped. */
import type { Part } from "@palimpsest/core/internal/message";
import type { ExportedMessage } from "./export-thread.ts";

export function htmlHead(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>
:root { color-scheme: light dark; background: light-dark(#fff, #16171b); color: light-dark(#1d1f24, #e7e7e2); }
a { color: inherit; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.3; }
article { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .5rem 0; }
h2 { font-size: .9rem; margin: 0; opacity: .7; font-weight: 600; }
p, pre { white-space: pre-wrap; margin: .5rem 0; }
pre { background: color-mix(in srgb, currentColor 8%, transparent); padding: .5rem; border-radius: .3rem; font-size: .85rem; }
.reasoning { opacity: .7; font-style: italic; }
section > h2 { font-size: 1.15rem; opacity: 1; margin: 1.5rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; font-variant-numeric: tabular-nums; }
td, th { text-align: start; vertical-align: top; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 12%, transparent); overflow-wrap: anywhere; }
.n { text-align: end; white-space: nowrap; }
.about { opacity: .7; }
strong { color: light-dark(#b91c1c, #f87171); }
.bar { display: flex; position: relative; height: 1.6rem; border-radius: .3rem; overflow: hidden; background: color-mix(in srgb, currentColor 10%, transparent); }
.bar i { min-width: 1px; }
.beyond { position: absolute; inset: 0; border-left: 2px solid light-dark(#1d1f24, #e7e7e2); background: repeating-linear-gradient(-45deg, rgb(185 28 28 / .6) 0 3px, transparent 3px 12px); }
.curve { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .6rem; }
.axis { display: flex; flex-direction: column; justify-content: space-between; margin: 0; text-align: end; line-height: 1; }
.axis, .times { font-size: .75rem; font-variant-numeric: tabular-nums; opacity: .75; }
.times { display: flex; justify-content: space-between; }
.key i { display: inline-block; width: .6rem; height: .6rem; border-radius: .1rem; margin-right: .35rem; }
.key span { margin-right: 1rem; white-space: nowrap; display: inline-block; }
details { margin: .3rem 0; }
summary { cursor: pointer; }
time { white-space: nowrap; }
svg { width: 100%; height: 10rem; color: light-dark(#b83b0a, #f07a45); border-bottom: 1px solid color-mix(in srgb, currentColor 40%, transparent); }
polyline, line { fill: none; vector-effect: non-scaling-stroke; }
polyline { stroke-width: 2; stroke: light-dark(#4f6bb8, #6d88d6); }
.dot { stroke-width: 10; stroke-linecap: round; }
</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
`;
}

export function htmlMessage({ seq, at, role, parts }: ExportedMessage): string {
  const when = `<time datetime="${escaped(at)}">${escaped(at.slice(0, 16).replace("T", " "))}</time>`;
  return `<article id="m${seq}">\n<h2>${escaped(role)} · #${seq} · ${when}</h2>\n${parts.map(partHtml).join("\n")}\n</article>\n`;
}

export function htmlFoot(): string {
  return "</main>\n</body>\n</html>\n";
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

/** Markup as text, and characters that reverse or hide text as a visible sign. Tabs and line ends stay. */
export function escaped(text: string): string {
  return text.replaceAll(HIDING, "\ufffd").replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const HIDING = /(?![\t\n\r])[\p{Cc}\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/gu;
