/** Tags and texts of XML, one after the other, without a tree. Never fails: what is no tag is text. */

export type Token =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "open"; readonly name: string; readonly isClosed: boolean }
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
  return { kind: "open", name, isClosed: inner.endsWith("/") };
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z]{2,8}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[name as string] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : "";
  });
}
