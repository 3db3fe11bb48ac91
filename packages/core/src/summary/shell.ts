/**
 * What a shell command does to files, and whether it is a test run or a commit, as far as its text tells. It guesses
 * nothing: names held in variables and effects inside other programs' code are left out.
 */

export type FileAct =
  | { readonly act: "read" | "write" | "edit" | "delete"; readonly path: string }
  | { readonly act: "move"; readonly path: string; readonly to: string };

interface ShellEffects {
  readonly files: readonly FileAct[];
  readonly commits: readonly string[];
  readonly isTest: boolean;
}

const MAX_SOURCE = 200_000;

export function shellEffects(source: string): ShellEffects {
  const files: FileAct[] = [];
  const commits: string[] = [];
  let isTest = false;
  let directory = "";
  for (const command of shellCommands(source.slice(0, MAX_SOURCE))) {
    const words = withoutPrefixes(command.words);
    if (words[0] === "cd" && words[1] !== undefined) {
      directory = resolve(directory, words[1]);
      continue;
    }
    for (const act of [...commandActs(words), ...redirectionActs(command)]) {
      if (!isNameable(act.path) || (act.act === "move" && !isNameable(act.to))) continue;
      const path = resolve(directory, act.path);
      files.push(act.act === "move" ? { ...act, path, to: resolve(directory, act.to) } : { ...act, path });
    }
    const message = commitMessage(words);
    if (message !== null) commits.push(message);
    isTest ||= isTestRun(words);
  }
  return { files, commits, isTest };
}

function redirectionActs(command: SimpleCommand): FileAct[] {
  return command.writes.map((path) => ({ act: "write", path }));
}

function commandActs(words: readonly string[]): FileAct[] {
  const [name = "", ...rest] = words;
  const program = name === "git" && (rest[0] === "rm" || rest[0] === "mv") ? rest[0] : name;
  const operands = (program === name ? rest : rest.slice(1)).filter((word) => !word.startsWith("-"));
  switch (program) {
    case "rm":
    case "unlink":
      return operands.map((path) => ({ act: "delete", path }));
    case "mv":
      return pairUp(operands).map(([path, to]) => ({ act: "move", path, to }));
    case "cp":
    case "install":
      return pairUp(operands).map(([, path]) => ({ act: "write", path }));
    case "tee":
    case "touch":
    case "truncate":
      return operands.map((path) => ({ act: "write", path }));
    case "sed":
    case "perl":
      return scriptActs(program, rest);
    case "cat":
    case "head":
    case "tail":
    case "nl":
    case "less":
    case "more":
    case "bat":
      return operands.filter((word) => !/^[+]?\d+$/.test(word)).map((path) => ({ act: "read", path }));
    case "git":
      return gitActs(rest);
    default:
      return [];
  }
}

/** `sed` and `perl` take a script before the files unless an option carries it; in place they edit, else they read. */
function scriptActs(program: string, rest: readonly string[]): FileAct[] {
  let hasScript = false;
  let inPlace = false;
  const operands: string[] = [];
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at]!;
    if (!word.startsWith("-") || word === "-") {
      if (word !== "") operands.push(word);
      continue;
    }
    inPlace ||= /^-[a-zA-Z0-9]*i/.test(word) || word.startsWith("--in-place");
    if (/^-[a-zA-Z0-9]*[ef]$/.test(word) || word === "--expression" || word === "--file") {
      hasScript = true;
      at++;
    }
  }
  if (!inPlace && program === "perl") return [];
  return operands.slice(hasScript ? 0 : 1).map((path) => ({ act: inPlace ? "edit" : "read", path }));
}

function gitActs(rest: readonly string[]): FileAct[] {
  const [verb, ...args] = rest;
  const dashes = args.indexOf("--");
  if (verb === "checkout") return dashes === -1 ? [] : args.slice(dashes + 1).map((path) => ({ act: "edit", path }));
  if (verb === "restore" && !args.includes("--staged"))
    return args.filter((word) => !word.startsWith("-")).map((path) => ({ act: "edit", path }));
  return [];
}

/** `mv a b dir/` puts each source into the last operand. */
function pairUp(operands: readonly string[]): [from: string, to: string][] {
  const target = operands.at(-1);
  if (target === undefined || operands.length < 2) return [];
  const into = operands.length > 2 || target.endsWith("/") || target === ".";
  return operands.slice(0, -1).map((from) => {
    const name = from.split("/").filter(Boolean).at(-1) ?? from;
    return [from, into ? `${target.replace(/(?<!\/)\/+$/, "")}/${name}` : target];
  });
}

function commitMessage(words: readonly string[]): string | null {
  if (words[0] !== "git" || !words.includes("commit")) return null;
  const at = words.findIndex((word) => /^-[a-zA-Z]*m$/.test(word) || word === "--message");
  const inline = words.find((word) => word.startsWith("--message="));
  const message = inline?.slice("--message=".length) ?? (at === -1 ? undefined : words[at + 1]);
  if (message === undefined) return words.includes("--amend") ? "(amended)" : "(no message given)";
  // A message given as a here-document inside a substitution: its first line is the subject.
  const lines = message
    .replace(/^\$\(cat <<-?['"]?\w+['"]?\s*/, "")
    .split("\n")
    .map((line) => line.trim());
  return lines.find((line) => line !== "") ?? "(no message given)";
}

const TEST_PROGRAMS = new Set("jest vitest mocha pytest ava tap rspec phpunit ctest tox nox nextest bats".split(" "));
const TEST_SCRIPT = /^(?:test|check|spec|e2e|ci|verify)(?:$|[:._-])|(?:^|[:._-])tests?$/;

function isTestRun(words: readonly string[]): boolean {
  const [name = "", first = "", second = ""] = words.filter((word) => !/^-(?!-test$|m$)/.test(word));
  const program = name.split("/").at(-1)!;
  if (TEST_PROGRAMS.has(program)) return true;
  if (["npx", "bunx", "pnpx", "uvx", "pipx"].includes(program)) return isTestRun(words.slice(1));
  if (["npm", "pnpm", "yarn", "bun", "deno"].includes(program))
    return TEST_SCRIPT.test(first === "run" ? second : first) || first === "t" || TEST_PROGRAMS.has(first);
  if (
    ["go", "cargo", "mvn", "gradle", "gradlew", "dotnet", "swift", "mix", "zig", "make", "just", "bazel"].includes(
      program,
    )
  )
    return words.slice(1).some((word) => TEST_SCRIPT.test(word));
  if (program === "node") return words.includes("--test");
  return /^python[\d.]*$/.test(program) && first === "-m" && (TEST_PROGRAMS.has(second) || second === "unittest");
}

const WRAPPERS = new Set(["sudo", "time", "env", "command", "exec", "nohup", "then", "do", "else", "!", "if", "while"]);

function withoutPrefixes(words: readonly string[]): readonly string[] {
  let at = 0;
  while (at < words.length) {
    const word = words[at]!;
    if (word === "timeout") at += 2;
    else if (WRAPPERS.has(word) || /^[A-Za-z_]\w*=/.test(word)) at++;
    else break;
  }
  return at === 0 ? words : words.slice(at);
}

function isNameable(path: string): boolean {
  return path !== "" && path !== "-" && path.length <= 1000 && !/[$`\n*]|^\/dev\/|^&/.test(path);
}

function resolve(directory: string, path: string): string {
  if (directory === "" || /^(?:[/~]|[A-Za-z]:[\\/])/.test(path)) return path;
  const steps: string[] = [];
  for (const step of `${directory}/${path}`.split("/")) {
    if (step === "." || (step === "" && steps.length > 0)) continue;
    if (step === ".." && steps.length > 0 && !["", ".."].includes(steps.at(-1)!)) steps.pop();
    else steps.push(step);
  }
  return steps.join("/");
}

/**
 * Splits a shell command line into simple commands: words, redirections, separators, quotes, here-documents. Enough of
 * the grammar to tell which files a command names; it expands nothing and never fails.
 */

interface SimpleCommand {
  readonly words: readonly string[];
  /** Files written by `>`, `>>`, `&>`. */
  readonly writes: readonly string[];
}

function shellCommands(source: string): SimpleCommand[] {
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
