/** Figures of one package's sources: sizes, casts, spreads, knots, and what is written twice. Counts, never judges. */
import { functionsOf } from "../architecture/functions.ts";
import { isNode, type Node, parse, walk } from "../architecture/syntax.ts";
import { isMade, isTest, type SourceFile } from "../architecture/workspace.ts";
import { fileEdges, folderEdges, knots } from "./graph.ts";

export type Figures = Readonly<Record<string, number | string>>;

export function figuresOf(sources: readonly SourceFile[], tests: readonly SourceFile[]): Figures {
  const sizes = sources.map(({ text }) => text.trimEnd().split("\n").length);
  const functions = sources.flatMap(({ text }) => functionsOf(text));
  // Callbacks of one expression are no functions to a reader.
  const lines = functions.map((one) => one.lines).filter((size) => size > 2);
  const nodes = countNodes(sources);
  const runtime = fileEdges(sources, "runtime");
  const withTypes = knots(fileEdges(sources, "all"));
  const code = sum(sources.map(({ text }) => written(text)));
  return {
    files: sources.length,
    "lines, not blank": code,
    "file median / max": `${quantile(sizes, 0.5)} / ${Math.max(...sizes)}`,
    "function median / p90 / max lines": `${quantile(lines, 0.5)} / ${quantile(lines, 0.9)} / ${Math.max(...lines)}`,
    "most statements in a function": Math.max(...functions.map(({ statements }) => statements)),
    "comments, % of lines": ((100 * sum(sources.map(({ text }) => commentLines(text)))) / code).toFixed(1),
    "any / as / as never, unknown / !": `${nodes.any} / ${nodes.casts} / ${nodes.blindCasts} / ${nodes.bangs}`,
    "runtime cycles of files (with types: groups, largest)": `${knots(runtime).length} (${withTypes.length}, ${withTypes[0]?.length ?? 0})`,
    "runtime knots of folders (sizes)": said(knots(folderEdges(runtime)).map(({ length }) => length)),
    "tests / code": (sum(tests.map(({ text }) => written(text))) / code).toFixed(2),
    "literal / conditional spreads": `${nodes.literalSpreads} / ${nodes.conditionalSpreads}`,
    "functions of 4, of 5 or more positionals": `${functions.filter(({ parameters }) => parameters === 4).length}, ${functions.filter(({ parameters }) => parameters > 4).length}`,
    "WeakMaps and WeakSets": nodes.weak,
  };
}

/** Names and expressions that a reader met again and again; each is best written once. */
export function duplicatesOf(sources: readonly SourceFile[]): Figures {
  const all = sources.map(({ text }) => text).join("\n");
  const matches = (pattern: RegExp): number => [...all.matchAll(pattern)].length;
  const functions = (name: string): number => matches(new RegExp(`^(?:export )?(?:function|const) ${name}\\b`, "gm"));
  const types = (pattern: string): number =>
    matches(new RegExp(`^(?:export )?(?:interface|type|class) ${pattern}\\b`, "gm"));
  return {
    "functions `clip`": functions("clip"),
    "functions `isRecord`": functions("isRecord"),
    "functions `oneLine`": functions("oneLine"),
    "functions `usageOf`": functions("usageOf"),
    "an error's text by hand": matches(/instanceof Error \? \w+\.message : String\(/g),
    "`JSON.parse(...) as never`": matches(/JSON\.parse\([^\n]*\) as never/g),
    "classes of CJK": matches(/\\p\{(?:sc|Script)=Han\}/gi) + matches(/[[-]\\u4e00/gi),
    "names for the size of a prompt": new Set(
      [
        ...all.matchAll(
          /^export (?:interface|type) (Meter|Account|Ledger|Gauge|Measure|Weigher|ThreadScale|Sizer)\b/gm,
        ),
      ].map(([, name]) => name),
    ).size,
    "types named Desk": types("\\w*Desk"),
    "files told apart by spelling": spellingTwins(sources.map(({ path }) => path)),
    "past participles as locals": matches(/\b(?:const|let) (?:found|known|shown|said|asked|kept|given|made|held)\b/g),
    "functions with the same text in two files": sameFunctions(sources),
  };
}

export function testsAmong(files: readonly SourceFile[]): {
  readonly sources: readonly SourceFile[];
  readonly tests: readonly SourceFile[];
} {
  return {
    sources: files.filter(({ path }) => !isTest(path) && !isMade(path)),
    tests: files.filter(({ path }) => /\.(?:test|soak)\.ts$/.test(path)),
  };
}

export function countNodes(sources: readonly SourceFile[]) {
  const counts = {
    any: 0,
    casts: 0,
    blindCasts: 0,
    bangs: 0,
    literalSpreads: 0,
    conditionalSpreads: 0,
    weak: 0,
  };
  const enter = (node: Node): null => {
    if (node.type === "TSAnyKeyword") counts.any += 1;
    if (node.type === "TSNonNullExpression") counts.bangs += 1;
    if (node.type === "TSAsExpression") count(node["typeAnnotation"]);
    if (node.type === "SpreadElement") spread(node["argument"]);
    if (node.type === "NewExpression" && /^Weak(?:Map|Set)$/.test(nameOf(node["callee"]))) counts.weak += 1;
    return null;
  };
  const count = (type: unknown): void => {
    if (!isNode(type) || nameOf(type["typeName"]) === "const") return;
    counts.casts += 1;
    if (type.type === "TSNeverKeyword" || type.type === "TSUnknownKeyword") counts.blindCasts += 1;
  };
  const spread = (argument: unknown): void => {
    if (!isNode(argument)) return;
    const inner = argument.type === "ParenthesizedExpression" ? argument["expression"] : argument;
    if (!isNode(inner)) return;
    if (inner.type === "ObjectExpression") counts.literalSpreads += 1;
    if (inner.type === "ConditionalExpression" || inner.type === "LogicalExpression") counts.conditionalSpreads += 1;
  };
  for (const { text } of sources) walk(parse(text).program.body, null, enter);
  return counts;
}

/** Named functions of three lines and more whose text stands in another file too, blanks aside: how many are too many. */
function sameFunctions(sources: readonly SourceFile[]): number {
  const places = new Map<string, number>();
  for (const { text } of sources) {
    walk(parse(text).program.body, null, (node) => {
      if (node.type !== "FunctionDeclaration") return null;
      const own = text.slice(node.start, node.end);
      if (own.split("\n").length < 3) return null;
      const body = own.replace(/^[^(]*/, "").replace(/\s+/g, "");
      places.set(body, (places.get(body) ?? 0) + 1);
      return null;
    });
  }
  return sum([...places.values()].map((times) => times - 1));
}

function spellingTwins(paths: readonly string[]): number {
  const american = paths.map((path) => path.replace(/is(e|ing|er)(?=[.-])/g, "iz$1").replace(/our(?=[.-])/g, "or"));
  return american.length - new Set(american).size;
}

function commentLines(text: string): number {
  const lines = new Set<number>();
  for (const { start, end } of parse(text).comments) {
    const first = text.slice(0, start).split("\n").length;
    const before = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
    if (before.trim() !== "") continue;
    for (let line = first; line < first + text.slice(start, end).split("\n").length; line += 1) lines.add(line);
  }
  return lines.size;
}

function written(text: string): number {
  return text.split("\n").filter((line) => line.trim() !== "").length;
}

function nameOf(node: unknown): string {
  return isNode(node) && typeof node["name"] === "string" ? node["name"] : "";
}

function said(sizes: readonly number[]): string {
  return sizes.length === 0 ? "0" : `${sizes.length} (${sizes.join(", ")})`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
}
