/**
 * Splits a shell command line into simple commands: words, redirections, separators, quotes, here-documents. Enough of
 * the grammar to tell which files a command names; it expands nothing and never fails.
 */

export interface SimpleCommand {
  readonly words: readonly string[];
  /** Files written by `>`, `>>`, `&>`. */
  readonly writes: readonly string[];
}

export function shellCommands(source: string): SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  let words: string[] = [];
  let writes: string[] = [];
  let expecting: "word" | "write" | "skip" = "word";
  const hereDocs: string[] = [];
  const finish = () => {
    if (words.length > 0 || writes.length > 0) commands.push({ words, writes });
    words = [];
    writes = [];
    expecting = "word";
  };
  let at = 0;
  while (at < source.length) {
    const char = source[at]!;
    if (char === "\n") {
      finish();
      at = hereDocs.length > 0 ? skipHereDocs(source, at + 1, hereDocs.splice(0)) : at + 1;
    } else if (char === " " || char === "\t" || char === "\r") {
      at++;
    } else if (char === "\\" && source[at + 1] === "\n") {
      at += 2;
    } else if (char === "#") {
      at = endOfLine(source, at);
    } else if (source.startsWith("<<", at) && source[at + 2] !== "<") {
      const [delimiter, next] = readWord(source, skipBlanks(source, source[at + 2] === "-" ? at + 3 : at + 2));
      hereDocs.push(delimiter);
      at = Math.max(next, at + 2);
    } else if (char === ">" || source.startsWith("&>", at) || /^\d>/.test(source.slice(at, at + 2))) {
      // `2>&1` and `>&2` name a descriptor; `2> file` writes a file.
      const operator = /^(?:\d|&)?>{1,2}\|?(&\d)?/.exec(source.slice(at, at + 6))!;
      expecting = operator[1] === undefined ? "write" : "word";
      at += operator[0].length;
    } else if (char === "<") {
      expecting = "skip";
      at += source.startsWith("<<<", at) ? 3 : 1;
    } else if (";&|(){}".includes(char) && !(char === "{" && source[at + 1] !== " " && source[at + 1] !== "\n")) {
      finish();
      at++;
    } else {
      const [word, next] = readWord(source, at);
      if (expecting === "word") words.push(word);
      else if (expecting === "write") writes.push(word);
      expecting = "word";
      at = Math.max(next, at + 1);
    }
  }
  finish();
  return commands;
}

/** One word with its quotes removed, and where it ends. */
function readWord(source: string, start: number): [word: string, next: number] {
  const pieces: string[] = [];
  let at = start;
  while (at < source.length) {
    const char = source[at]!;
    if (char === "'" || char === '"') {
      const end = closingQuote(source, at);
      const inner = source.slice(at + 1, end);
      pieces.push(char === '"' ? inner.replaceAll(/\\(["\\$`])/g, (_, escaped: string) => escaped) : inner);
      at = end + 1;
    } else if (char === "\\") {
      pieces.push(source[at + 1] ?? "");
      at += 2;
    } else if (source.startsWith("$(", at) || source.startsWith("${", at)) {
      const end = closingBracket(source, at + 1);
      pieces.push(source.slice(at, end));
      at = end;
    } else if (" \t\r\n;&|<>()".includes(char)) {
      break;
    } else {
      let end = at + 1;
      while (end < source.length && !" \t\r\n;&|<>()'\"\\$".includes(source[end]!)) end++;
      pieces.push(source.slice(at, end));
      at = end;
    }
  }
  return [pieces.join(""), at];
}

function closingQuote(source: string, open: number): number {
  const quote = source[open]!;
  let at = open + 1;
  while (at < source.length && source[at] !== quote) at += quote === '"' && source[at] === "\\" ? 2 : 1;
  return Math.min(at, source.length);
}

function closingBracket(source: string, open: number): number {
  const [left, right] = source[open] === "(" ? "()" : "{}";
  let depth = 0;
  for (let at = open; at < source.length; at++) {
    if (source[at] === left) depth++;
    else if (source[at] === right && --depth === 0) return at + 1;
  }
  return source.length;
}

function skipHereDocs(source: string, start: number, delimiters: readonly string[]): number {
  let at = start;
  for (const delimiter of delimiters) {
    while (at < source.length) {
      const end = endOfLine(source, at);
      const line = source.slice(at, end).trim();
      at = end + 1;
      if (line === delimiter) break;
    }
  }
  return at;
}

function skipBlanks(source: string, start: number): number {
  let at = start;
  while (source[at] === " " || source[at] === "\t") at++;
  return at;
}

function endOfLine(source: string, start: number): number {
  const end = source.indexOf("\n", start);
  return end === -1 ? source.length : end;
}
