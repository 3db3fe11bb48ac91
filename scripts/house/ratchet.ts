/**
 * The figures of the sources that may never get worse, beside `ratchet.json`, which has the best that was reached: how
 * long the ways through the sources are, and what is counted per line. `house.test.ts` holds them. Totals are recorded.
 * `npm run house -- --tighten` writes what got better into `ratchet.json`; it never writes what got worse.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { functionsOf } from "../architecture/functions.ts";
import { publicNames, publicValues } from "../architecture/public-names.ts";
import { isNode, type Node, parse, walk } from "../architecture/syntax.ts";
import { isTest, loadWorkspace, type SourceFile, type Workspace } from "../architecture/workspace.ts";
import { countNodes } from "./figures.ts";

export type Figures = Readonly<Record<string, number>>;

export interface Ratchet {
  /** None may rise. How many lines ran is measured too, but not held: what a timer runs differs between two runs. */
  readonly ways: Readonly<Record<string, Figures>>;
  /** None may rise. */
  readonly figures: Figures;
  /** For the record. */
  readonly totals: Figures;
}

const RATCHET = fileURLToPath(new URL("./ratchet.json", import.meta.url));

/** What stands between a loop and its log. Two that are used in each other's place count as one. */
const OBJECTS = [
  ["Store"],
  ["Writer"],
  ["Hold"],
  ["Conversation"],
  ["OpenLog"],
  ["Prompting"],
  ["Session"],
  ["Thread", "OpenThread", "RunSession"],
  ["Run"],
  ["RequestBuilder"],
];
const OBJECT_FOLDERS = /^packages\/harness\/src\/(?:stores|threads?|session|agent)\//;
/** Those of the instruments prove nothing about the product. */
const INSTRUMENTS = /^packages\/(?:testing|lab)\//;

export function committedRatchet(): Ratchet {
  return JSON.parse(readFileSync(RATCHET, "utf8")) as Ratchet;
}

export function commitRatchet(ratchet: Ratchet): void {
  writeFileSync(RATCHET, `${JSON.stringify(ratchet, null, 2)}\n`);
}

export function measure(root: string): Ratchet {
  const workspace = loadWorkspace(root);
  const sources = workspace.files.filter(
    ({ path, package: owner }) => owner !== null && !isTest(path) && path !== GENERATED,
  );
  return { ways: measureWays(root), figures: measureFigures(sources), totals: measureTotals(workspace, sources) };
}

function measureWays(root: string): Ratchet["ways"] {
  const script = fileURLToPath(new URL("./walk.ts", import.meta.url));
  const answer = execFileSync(process.execPath, ["--conditions=palimpsest-source", script, root], { encoding: "utf8" });
  return JSON.parse(answer) as Ratchet["ways"];
}

/** Written at build time and not committed. */
const GENERATED = "packages/harness/src/client/routes.ts";

export function measureFigures(sources: readonly SourceFile[]): Figures {
  const lines = sources.reduce((total, { text }) => total + linesOf(text), 0);
  const perThousand = (count: number): number => Math.round((10_000 * count) / lines) / 10;
  const { casts, bangs, conditionalSpreads } = countNodes(sources);
  const functions = sources.flatMap(({ text }) => functionsOf(text));
  return {
    "objects between loop and log": objects(sources).length,
    "members of these objects": objects(sources).reduce((total, { members }) => total + members, 0),
    "object types of thread and agent": objectTypes(sources),
    "assemblies of a compactor": callsOf(sources, "createCompactor"),
    "openings of a stored thread": callsOf(sources, "openLog"),
    "places that make a thread's prompt": callsOf(sources, "threadPrompt"),
    "casts per 1,000 lines": perThousand(casts),
    "`!` per 1,000 lines": perThousand(bangs),
    "conditional spreads per 1,000 lines": perThousand(conditionalSpreads),
    "type names with several meanings": ambiguousTypeNames(sources).length,
    "lines of the longest file": Math.max(...sources.map(({ text }) => linesOf(text))),
    "lines of the longest function": Math.max(...functions.map((one) => one.lines)),
  };
}

function measureTotals(workspace: Workspace, sources: readonly SourceFile[]): Figures {
  const names = Object.values(publicNames(workspace));
  const product = sources.filter(({ path }) => !INSTRUMENTS.test(path));
  return {
    files: sources.length,
    lines: sources.reduce((total, { text }) => total + linesOf(text), 0),
    "lines without fakes, suites and lab": product.reduce((total, { text }) => total + linesOf(text), 0),
    "public subpaths": names.length,
    "public values": publicValues(workspace).reduce((total, { count }) => total + count, 0),
    "public types": names.reduce((total, { types }) => total + types.length, 0),
  };
}

/** One line for each figure that is worse than the best that was reached. */
export function worse(now: Ratchet, best: Ratchet): string[] {
  const risen = (place: string, is: Figures | undefined, was: Figures): string[] =>
    Object.entries(was)
      .filter(([name, value]) => is?.[name] === undefined || is[name] > value)
      .map(([name, value]) => `${place}${name}: ${is?.[name] ?? "not measured"}, the best was ${value}`);
  const ways = Object.entries(best.ways).flatMap(([way, was]) => risen(`${way}, `, now.ways[way], was));
  return [...ways, ...risen("", now.figures, best.figures)];
}

/** The better of both for each figure that is committed; totals as they are now. */
export function tightened(now: Ratchet, best: Ratchet): Ratchet {
  const lower = (is: Figures | undefined, was: Figures): Figures =>
    Object.fromEntries(Object.entries(was).map(([name, value]) => [name, Math.min(value, is?.[name] ?? value)]));
  const ways = Object.entries(best.ways).map(([way, was]) => [way, lower(now.ways[way], was)] as const);
  return { ways: Object.fromEntries(ways), figures: lower(now.figures, best.figures), totals: now.totals };
}

function linesOf(text: string): number {
  return text.split("\n").length - 1;
}

/** Names of types that are declared in more than one place. What one module adds to another's type is no declaration. */
export function ambiguousTypeNames(sources: readonly SourceFile[]): string[] {
  const counts = new Map<string, number>();
  for (const { text } of sources) {
    walk<"own" | "other's">(parse(text).program.body, "own", (node, place) => {
      if (node.type === "TSModuleDeclaration" || place === "other's") return "other's";
      const name = declaredType(node);
      if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
      return place;
    });
  }
  return [...counts].filter(([, count]) => count > 1).map(([name]) => name);
}

function declaredType(node: Node): string | null {
  if (!/^(?:TSInterfaceDeclaration|TSTypeAliasDeclaration|ClassDeclaration)$/.test(node.type)) return null;
  return isNode(node["id"]) ? String(node["id"]["name"]) : null;
}

interface InterfaceSize {
  readonly name: string;
  readonly members: number;
  readonly functions: number;
}

function objects(sources: readonly SourceFile[]): InterfaceSize[] {
  const all = sources.filter(({ path }) => OBJECT_FOLDERS.test(path)).flatMap(({ text }) => exportedInterfaces(text));
  return OBJECTS.flatMap((names) => {
    const largest = all.filter(({ name }) => names.includes(name)).sort((a, b) => b.members - a.members)[0];
    return largest === undefined ? [] : [largest];
  });
}

/** Exported interfaces of three functions or more, without options. A new name for one of the objects above is still one of these. */
function objectTypes(sources: readonly SourceFile[]): number {
  return sources
    .filter(({ path }) => OBJECT_FOLDERS.test(path) && !path.includes("/stores/"))
    .flatMap(({ text }) => exportedInterfaces(text))
    .filter(({ name, functions }) => functions >= 3 && !/(?:Options|Deps)$/.test(name)).length;
}

function exportedInterfaces(text: string): InterfaceSize[] {
  const interfaces: InterfaceSize[] = [];
  walk<null>(parse(text).program.body, null, (node) => {
    const { declaration } = node;
    if (node.type !== "ExportNamedDeclaration" || !isNode(declaration)) return null;
    if (declaration.type !== "TSInterfaceDeclaration") return null;
    const { id, body } = declaration as unknown as { id: { name: string }; body: { body: readonly Node[] } };
    interfaces.push({ name: id.name, members: body.body.length, functions: body.body.filter(isFunction).length });
    return null;
  });
  return interfaces;
}

function isFunction(member: Node): boolean {
  if (member.type === "TSMethodSignature") return true;
  const { typeAnnotation } = member;
  const type = isNode(typeAnnotation) ? typeAnnotation["typeAnnotation"] : null;
  return isNode(type) && type.type === "TSFunctionType";
}

function callsOf(sources: readonly SourceFile[], name: string): number {
  let calls = 0;
  for (const { path, text } of sources) {
    if (INSTRUMENTS.test(path) || path.startsWith("packages/adapters-") || !text.includes(`${name}(`)) continue;
    walk<null>(parse(text).program.body, null, (node) => {
      const { callee } = node;
      if (node.type === "CallExpression" && isNode(callee) && callee["name"] === name) calls += 1;
      return null;
    });
  }
  return calls;
}
