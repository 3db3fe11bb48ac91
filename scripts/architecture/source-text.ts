/**
 * Reads TypeScript as text: blanks comments, strings and regular expressions so that the checks beside it see only code.
 * Offsets and line breaks stay where they are. It must not need a compiler: TypeScript 7 has no API for one.
 */

export interface Blanking {
  /** Imports are read from the specifier's text, so strings can be left standing. */
  readonly strings: "blank" | "keep";
}

export function blank(source: string, { strings }: Blanking): string {
  const scan: Scan = { source, at: 0, out: [], strings };
  code(scan, "end");
  return scan.out.join("");
}

export function lineOf(source: string, offset: number): number {
  let line = 1;
  for (let i = source.indexOf("\n"); i !== -1 && i < offset; i = source.indexOf("\n", i + 1)) line += 1;
  return line;
}

interface Scan {
  readonly source: string;
  at: number;
  readonly out: string[];
  readonly strings: "blank" | "keep";
}

/** Copies code until the end of the text, or to the brace that closes a template's `${`. */
function code(scan: Scan, until: "end" | "brace"): void {
  let depth = 0;
  while (scan.at < scan.source.length) {
    const two = scan.source.slice(scan.at, scan.at + 2);
    const one = two[0]!;
    if (two === "//") skip(scan, endOf(scan, "\n"), "blank");
    else if (two === "/*") skip(scan, endOf(scan, "*/") + 2, "blank");
    else if (one === '"' || one === "'") skip(scan, endOfQuoted(scan, one), scan.strings);
    else if (one === "`") template(scan);
    else if (one === "/" && startsRegExp(scan)) skip(scan, endOfRegExp(scan), "blank");
    else {
      if (one === "{") depth += 1;
      if (one === "}") {
        if (depth === 0 && until === "brace") return;
        depth -= 1;
      }
      skip(scan, scan.at + 1, "keep");
    }
  }
}

function template(scan: Scan): void {
  skip(scan, scan.at + 1, "keep");
  while (scan.at < scan.source.length && scan.source[scan.at] !== "`") {
    if (scan.source.startsWith("${", scan.at)) {
      skip(scan, scan.at + 2, "keep");
      code(scan, "brace");
      skip(scan, scan.at + 1, "keep");
    } else skip(scan, scan.at + (scan.source[scan.at] === "\\" ? 2 : 1), "blank");
  }
  skip(scan, scan.at + 1, "keep");
}

function skip(scan: Scan, to: number, as: "blank" | "keep"): void {
  const text = scan.source.slice(scan.at, to);
  scan.out.push(as === "keep" ? text : text.replace(/[^\n]/g, " "));
  scan.at = to;
}

function endOf(scan: Scan, mark: string): number {
  const found = scan.source.indexOf(mark, scan.at);
  return found === -1 ? scan.source.length : found;
}

function endOfQuoted(scan: Scan, quote: string): number {
  let i = scan.at + 1;
  while (i < scan.source.length && scan.source[i] !== quote && scan.source[i] !== "\n")
    i += scan.source[i] === "\\" ? 2 : 1;
  return i + 1;
}

function endOfRegExp(scan: Scan): number {
  let i = scan.at + 1;
  let inClass = false;
  while (i < scan.source.length && scan.source[i] !== "\n" && (inClass || scan.source[i] !== "/")) {
    if (scan.source[i] === "[") inClass = true;
    if (scan.source[i] === "]") inClass = false;
    i += scan.source[i] === "\\" ? 2 : 1;
  }
  return i + 1;
}

/** A slash divides after a value and starts a regular expression everywhere else. */
function startsRegExp(scan: Scan): boolean {
  const before = scan.out.slice(-100).join("").trimEnd();
  if (before === "" || /[([{,;=:!&|?+\-*%~^<>]$/.test(before)) return true;
  return /\b(?:return|typeof|case|in|of|yield|await|void)$/.test(before);
}
