/**
 * Finds the lines of a tool's output that say what went wrong, and the exit code it reports. Used by the ledger, the
 * digests and the extract, so that the failing line of a log survives every reduction.
 */

/** Words that mark a line as a failure. Case matters where the lower-case word is ordinary prose. */
const FAILING =
  /(?:^|[^A-Za-z])(?:[A-Za-z]*(?:Error|Exception)\b|error(?:\[\w+\])?:|error TS\d+|ERR!|FAIL(?:ED|URE)?\b|fatal:|panic:|panicked at|Traceback|AssertionError|assertion failed|E[A-Z]{4,}:|command not found|No such file or directory|Permission denied|Cannot find|cannot find|not ok \d|Segmentation fault|Killed|timed out|unresolved|undefined reference)|^\s*(?:[✗✖×❌]|E {2,})|\b[1-9]\d* (?:failed|failing|errors?)\b/u;

/** Source code and reports of success that merely name an error. */
const HARMLESS =
  /\b(?:throw new|catch \(|import .{0,200}? from|export (?:class|const|function|interface|type)|class \w+ extends|function \w*\(|(?:const|let|var) \w+ =|return new|instanceof|raise \w+\(|except \w+|def \w+\()|\b[Nn]o errors?\b|^\s*(?:\/\/|\*|#)/u;

const MAX_LINE = 300;

/** At most `max` distinct failing lines, the first ones and the last one. Linear in the text. */
export function failingLines(text: string, max: number): string[] {
  const failing: string[] = [];
  const seen = new Set<string>();
  for (const line of linesOf(text)) {
    const head = line.length > MAX_LINE * 2 ? line.slice(0, MAX_LINE * 2) : line;
    if (!isFailingLine(head)) continue;
    const excerpt = clip(head.trim(), MAX_LINE);
    if (excerpt === "" || seen.has(excerpt)) continue;
    seen.add(excerpt);
    if (failing.length < max) failing.push(excerpt);
    else failing[max - 1] = excerpt;
  }
  return failing;
}

export function isFailingLine(line: string): boolean {
  return FAILING.test(line) && !HARMLESS.test(line);
}

const FAILURE_WORD = /\b(?:error|exception|failed|failure|fatal|panic|traceback|cannot|denied|not found)\b/i;

/** Whether a line speaks of a failure at all, in prose and source code too: what a search should find. */
export function mentionsFailure(line: string): boolean {
  return FAILURE_WORD.test(line);
}

const EXIT_IN_JSON = /"(?:exit_?code|return_?code|status_?code)"\s*:\s*(-?\d{1,3})\b/gi;
const EXIT_LINE =
  /^[[({<]*(?:(?:the )?(?:command|process|shell|program|script) )?(?:(?:failed|finished|completed) )?(?:with )?(?:exited with(?: code| status)?|exit[ _-]?(?:code|status)|return ?code)\s*(?:[:=>]\s*)?(-?\d{1,3})\b|^[[(<]exit(?:ed)?\s*(?:[:=>]\s*)?(-?\d{1,3})[\])>]/gim;

/** The exit code a tool reports at the start or end of its output, on a line of its own; null when it reports none. */
export function exitCode(text: string): number | null {
  const edges = text.length > 1200 ? `${text.slice(0, 600)}\n${text.slice(-600)}` : text;
  // Printed source code speaks of exit codes too, so a mention inside a line counts only where the whole is JSON.
  const pattern = /^\s*\{/.test(text) ? EXIT_IN_JSON : EXIT_LINE;
  const match = [...edges.matchAll(pattern)].at(-1);
  return match === undefined ? null : Number(match[1] ?? match[2]);
}

/** Lines without copying the text first. */
export function* linesOf(text: string): Generator<string> {
  let start = 0;
  while (start <= text.length) {
    const end = text.indexOf("\n", start);
    if (end === -1) {
      yield text.slice(start);
      return;
    }
    yield text.slice(start, text.charCodeAt(end - 1) === 13 ? end - 1 : end);
    start = end + 1;
  }
}

/*
 * Cuts a text into sentences and lines worth quoting, in any language. Fenced code is passed over; list items and
 * headings stand alone. Linear, and each sentence is capped, so one 5 MB line costs no more than its scan.
 */

const MAX_SENTENCE = 320;

export function sentences(text: string): string[] {
  const parts: string[] = [];
  let inFence = false;
  for (const raw of linesOf(text)) {
    if (/^\s*(?:```|~~~)/.test(raw)) {
      inFence = !inFence;
      continue;
    }
    if (inFence) continue;
    for (const piece of split(raw)) {
      const sentence = piece.replace(/^\s*(?:[-*+•]|\d{1,2}[.)]|#{1,6}|>)\s+/, "").trim();
      if (sentence.length > 1) parts.push(clip(sentence, MAX_SENTENCE));
    }
  }
  return parts;
}

/** Ends at . ! ? followed by a space and at the full-width marks; a dot inside a number or a path is no end. */
function split(line: string): string[] {
  if (line.length <= 40) return [line];
  const pieces: string[] = [];
  let start = 0;
  for (const match of line.matchAll(/[.!?]["'”’)\]]*(?=\s)|[。！？；]["」』”]*/gu)) {
    const end = match.index + match[0].length;
    // "e.g. this" and "1. that" are not ends.
    if (end - start < 12 || /(?:^|\s)(?:e\.g|i\.e|etc|vs|cf|\d+)\.$/.test(line.slice(Math.max(0, end - 6), end)))
      continue;
    pieces.push(line.slice(start, end));
    start = end;
  }
  if (start < line.length) pieces.push(line.slice(start));
  return pieces;
}

/** A text made short or flat, for a line of a summary, a log or a screen. Never cuts through a character. */

/** At most `maxChars` UTF-16 units, marked when cut, never through a surrogate pair. */
export function clip(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  let end = Math.max(0, maxChars - 1);
  const unit = text.charCodeAt(end - 1);
  if (unit >= 0xd800 && unit <= 0xdbff) end--;
  return `${text.slice(0, end)}…`;
}

/** Text is never cut before one: it would part a pair. */
export function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** One line, no control characters, capped without splitting a character. */
export function oneLine(text: string, maxChars: number): string {
  // A long text is cut first, so that a 5 MB item costs no more than a short one.
  const head = text.length > maxChars * 4 ? text.slice(0, maxChars * 4) : text;
  return clip(flatten(head).trim(), maxChars);
}

/** All white space, line breaks of every kind and control characters as single blanks. */
export function flatten(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, " ");
}
