/**
 * A line of Markdown: emphasis, code, links and pictures. Only addresses of the web and of mail become links. Every search for
 * a closing sign is bounded, so that a hostile text costs no more than a long one. Pure.
 */
export type Inline =
  | { readonly kind: "text" | "code"; readonly text: string }
  | { readonly kind: "strong" | "emphasis" | "strike"; readonly inlines: readonly Inline[] }
  | { readonly kind: "link"; readonly address: string; readonly inlines: readonly Inline[] }
  /** `address` is unchecked text. The renderer decides what may be loaded. */
  | { readonly kind: "picture"; readonly address: string; readonly alt: string };

export function inlinesOf(text: string, depth = 0): readonly Inline[] {
  const inlines: Inline[] = [];
  let plain = "";
  let at = 0;
  const flush = () => {
    if (plain !== "") inlines.push({ kind: "text", text: plain });
    plain = "";
  };
  const signs = new RegExp(SIGNS);
  for (;;) {
    signs.lastIndex = at;
    const match = signs.exec(text);
    plain += text.slice(at, match?.index ?? text.length);
    if (match === null) break;
    const [sign] = match;
    const taken = sign.startsWith("\\") ? { text: sign.slice(1), end: signs.lastIndex } : spanAt(text, match, depth);
    if (taken === null || "text" in taken) plain += taken?.text ?? sign;
    else {
      flush();
      inlines.push(taken.inline);
    }
    at = taken?.end ?? signs.lastIndex;
  }
  flush();
  return inlines;
}

/** Its words alone. */
export function plainText(text: string): string {
  return inlinesOf(text).map(wordsOf).join("");
}

function wordsOf(inline: Inline): string {
  if ("inlines" in inline) return inline.inlines.map(wordsOf).join("");
  return inline.kind === "picture" ? inline.alt : inline.text;
}

const SIGNS = /\\[!-/:-@[-`{-~]|`+|\*+|_+|~~|!?\[|https?:\/\/[^\s<>"`]+/g;
const DEEPEST = 6;
/** So far a closing sign is looked for, in characters. */
const REACH = 4_000;
/** And among so many that look like one. */
const MOST_CANDIDATES = 40;

interface InlineSpan {
  readonly inline: Inline;
  readonly end: number;
}

function spanAt(text: string, { 0: sign, index }: RegExpExecArray, depth: number): InlineSpan | null {
  if (sign.startsWith("`")) return codeAt(text, sign, index);
  if (depth >= DEEPEST) return null;
  if (sign.startsWith("http")) return bareAddress(sign, index);
  if (sign.endsWith("[")) return linkAt(text, sign, index, depth);
  return emphasisAt(text, sign, index, depth);
}

function codeAt(text: string, sign: string, index: number): InlineSpan | null {
  const from = index + sign.length;
  for (let at = from, tries = 0; tries < MOST_CANDIDATES; tries += 1) {
    const close = indexWithin(text, sign, at);
    if (close === -1) return null;
    let end = close + sign.length;
    while (text[end] === "`") end += 1;
    if (end === close + sign.length) {
      const inside = text.slice(from, close);
      const isPadded = inside.startsWith(" ") && inside.endsWith(" ") && inside.trim() !== "";
      return { inline: { kind: "code", text: isPadded ? inside.slice(1, -1) : inside }, end };
    }
    at = end;
  }
  return null;
}

function emphasisAt(text: string, sign: string, index: number, depth: number): InlineSpan | null {
  const from = index + sign.length;
  const isWordSign = sign.startsWith("_");
  if (sign.length > 3 || isSpace(text[from]) || (isWordSign && isWord(text[index - 1]))) return null;
  for (let at = from, tries = 0; tries < MOST_CANDIDATES; tries += 1) {
    const close = indexWithin(text, sign, at);
    if (close === -1) return null;
    const end = close + sign.length;
    const isPartOfLonger = sign !== "~~" && (text[end] === sign[0] || text[close - 1] === sign[0]);
    if (close > from && !isPartOfLonger && !isSpace(text[close - 1]) && !(isWordSign && isWord(text[end])))
      return { inline: emphasized(sign, inlinesOf(text.slice(from, close), depth + 1)), end };
    at = close + 1;
  }
  return null;
}

function emphasized(sign: string, inlines: readonly Inline[]): Inline {
  if (sign === "~~") return { kind: "strike", inlines };
  if (sign.length === 1) return { kind: "emphasis", inlines };
  return { kind: "strong", inlines: sign.length === 2 ? inlines : [{ kind: "emphasis", inlines }] };
}

function linkAt(text: string, sign: string, index: number, depth: number): InlineSpan | null {
  const from = index + sign.length;
  const close = closing(text, from, "[", "]");
  if (close === -1 || text[close + 1] !== "(") return null;
  const end = closing(text, close + 2, "(", ")");
  if (end === -1) return null;
  const label = text.slice(from, close);
  const address = addressIn(text.slice(close + 2, end).trim());
  if (sign === "![") return { inline: { kind: "picture", address, alt: label }, end: end + 1 };
  const inlines = inlinesOf(label, depth + 1);
  if (!isLinkable(address)) return null;
  return { inline: { kind: "link", address, inlines: inlines.map(withoutLink) }, end: end + 1 };
}

/** Without the title that may follow it, and without the angle brackets that may enclose it. */
function addressIn(target: string): string {
  const quote = target.at(-1) ?? "";
  const title = quote === '"' || quote === "'" ? target.lastIndexOf(quote, target.length - 2) : -1;
  const address = title > 0 && isSpace(target[title - 1]) ? target.slice(0, title).trimEnd() : target;
  return address.startsWith("<") && address.endsWith(">") ? address.slice(1, -1) : address;
}

/** A link within a link would be two targets at one place. */
function withoutLink(inline: Inline): Inline {
  if (inline.kind === "link") return { kind: "text", text: inline.address };
  return "inlines" in inline ? { ...inline, inlines: inline.inlines.map(withoutLink) } : inline;
}

/** A sentence's end is not the address's, nor is a bracket that it did not open. */
function bareAddress(sign: string, index: number): InlineSpan | null {
  let address = sign.slice(0, 2_000);
  while (/[.,;:!?'"*_~]/.test(address.slice(-1))) address = address.slice(0, -1);
  if (address.endsWith(")") && !address.includes("(")) address = address.slice(0, -1);
  if (!isLinkable(address)) return null;
  return {
    inline: { kind: "link", address, inlines: [{ kind: "text", text: address }] },
    end: index + address.length,
  };
}

/** Only what leads to the web or to a mail program. */
function isLinkable(address: string): boolean {
  if (!/^(?:https?:\/\/|mailto:)[^\s]/i.test(address)) return false;
  return URL.canParse(address);
}

/** Where the bracket that is open closes; -1: nowhere near. */
function closing(text: string, from: number, open: string, close: string): number {
  let depth = 1;
  for (let at = from; at < text.length && at < from + REACH; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === open) depth += 1;
    else if (text[at] === close) depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

function indexWithin(text: string, sign: string, from: number): number {
  const close = text.slice(from, from + REACH).indexOf(sign);
  return close === -1 ? -1 : from + close;
}

function isSpace(sign: string | undefined): boolean {
  return sign === undefined || /\s/.test(sign);
}

function isWord(sign: string | undefined): boolean {
  return sign !== undefined && /[\p{L}\p{N}]/u.test(sign);
}
