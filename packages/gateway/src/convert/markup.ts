/** Tags and texts of XML or HTML, one after the other, without a tree. Never fails: what is no tag is text. */

export type Token =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "open"; readonly name: string; readonly attributes: string; readonly isClosed: boolean }
  | { readonly kind: "close"; readonly name: string };

export function* tokens(markup: string): Generator<Token> {
  for (let at = 0; at < markup.length; ) {
    const start = markup.indexOf("<", at);
    if (start === -1 || start > at) {
      yield { kind: "text", text: unescaped(markup.slice(at, start === -1 ? undefined : start)) };
      if (start === -1) return;
    }
    if (markup.startsWith("<!--", start)) {
      at = after(markup, "-->", start);
      continue;
    }
    at = after(markup, ">", start);
    const tag = tagOf(markup.slice(start + 1, at - 1));
    if (tag !== null) yield tag;
  }
}

function after(markup: string, end: string, from: number): number {
  const at = markup.indexOf(end, from);
  return at === -1 ? markup.length + 1 : at + end.length;
}

function tagOf(inner: string): Token | null {
  if (/^[!?]/.test(inner)) return null;
  if (inner.startsWith("/")) return { kind: "close", name: inner.slice(1).trim().toLowerCase() };
  const space = inner.search(/[\s/]/);
  const name = (space === -1 ? inner : inner.slice(0, space)).toLowerCase();
  return { kind: "open", name, attributes: inner.slice(name.length), isClosed: inner.endsWith("/") };
}

export function attribute(attributes: string, name: string): string | null {
  const at = attributes.toLowerCase().search(new RegExp(`(?:^|\\s)${name}\\s*=`));
  if (at === -1) return null;
  const value = attributes.slice(attributes.indexOf("=", at) + 1).trimStart();
  const quote = value[0];
  if (quote === '"' || quote === "'") return unescaped(value.slice(1).split(quote, 1)[0]!);
  return unescaped(value.split(/[\s/]/, 1)[0]!);
}

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  mdash: "—",
  ndash: "–",
  hellip: "…",
  copy: "©",
  laquo: "«",
  raquo: "»",
  rsquo: "’",
  lsquo: "‘",
  rdquo: "”",
  ldquo: "“",
};

function unescaped(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z]{2,8}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[name as string] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : "";
  });
}

/** Rows as a table; cells keep to their line. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const width = Math.max(0, ...rows.map((row) => row.length));
  if (width === 0) return "";
  const line = (row: readonly string[]) =>
    `| ${Array.from({ length: width }, (_, index) => cell(row[index] ?? "")).join(" | ")} |`;
  const [head = [], ...rest] = rows;
  return [line(head), `|${" --- |".repeat(width)}`, ...rest.map(line)].join("\n");
}

function cell(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ").replaceAll("|", "\\|");
}
