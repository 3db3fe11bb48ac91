/**
 * Holds the names of public types to `docs/glossary.md`: a word that the glossary rules out for one thing may not stand in a
 * type's name, unless the glossary itself says what else it means. Exceptions live there, with a reason, never here.
 */
import type { PublicNames } from "./public-names.ts";
import { isNode, lineOf, type Node, parse, walk } from "./syntax.ts";
import type { SourceFile } from "./workspace.ts";

export interface Glossary {
  /** A word that isn't used, and the one that is. */
  readonly avoided: ReadonlyMap<string, string>;
  /** Words of the `not` column that mean something else of their own. */
  readonly own: ReadonlySet<string>;
}

/** Reads the tables by their heads: `word | means | not`, `word | means in a name`, and `word | say`. */
export function readGlossary(text: string): Glossary {
  const avoided = new Map<string, string>();
  const own = new Set<string>();
  for (const { head, cells } of tableRows(text)) {
    const [word = "", second = "", third = ""] = cells;
    if (head === "word | means | not") for (const one of listed(third)) avoided.set(one, plain(word));
    if (head === "word | say") avoided.set(plain(word), second);
    if (head === "word | means in a name") for (const one of listed(word)) own.add(one);
  }
  return { avoided, own };
}

export function unlistedWords(names: Readonly<Record<string, PublicNames>>, { avoided, own }: Glossary): string[] {
  const found = Object.entries(names).flatMap(([specifier, { types }]) =>
    types.flatMap((type) => {
      const words = ` ${wordsOf(type).join(" ")} `;
      const hits = [...avoided].filter(([word]) => !own.has(word) && new RegExp(` ${word}s? `).test(words));
      return hits.map(
        ([word, instead]) => `${specifier}: ${type} says "${word}", the glossary says "${instead}": docs/glossary.md`,
      );
    }),
  );
  return [...new Set(found)].sort();
}

const NAMES = new Map([
  ["thread", "threadId"],
  ["user", "userId"],
  ["agent", "agentName"],
]);

/** Parameters that name a thread, a user or an agent with the word for the thing itself. */
export function bareNames({ path, text }: Pick<SourceFile, "path" | "text">): string[] {
  const places: string[] = [];
  walk(parse(text).program, null, (node) => {
    const params: unknown = node["params"];
    for (const param of Array.isArray(params) ? params : []) {
      if (!isNode(param)) continue;
      const name = isNode(param["left"]) ? param["left"] : param;
      const instead = NAMES.get(String(name["name"]));
      if (instead !== undefined && isText(name["typeAnnotation"]))
        places.push(`${path}:${lineOf(text, name.start)} ${name["name"]} is a name: ${instead}`);
    }
    return null;
  });
  return places;
}

function isText(annotation: unknown): boolean {
  const type = isNode(annotation) ? annotation["typeAnnotation"] : null;
  if (!isNode(type)) return false;
  const types: readonly unknown[] = type.type === "TSUnionType" ? (type["types"] as Node[]) : [type];
  return types.some((one) => isNode(one) && one.type === "TSStringKeyword");
}

/** `AiSdkMessage` as `ai sdk message`. */
function wordsOf(name: string): string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []).map((word) => word.toLowerCase());
}

/** What stands in brackets explains and isn't part of the list. */
function listed(cell: string): string[] {
  return plain(cell.replace(/\([^)]*\)/g, ""))
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

const plain = (cell: string): string => cell.replaceAll(/[*`]/g, "").trim().toLowerCase();

interface Row {
  readonly head: string;
  readonly cells: readonly string[];
}

function tableRows(text: string): Row[] {
  let head = "";
  const rows: Row[] = [];
  for (const line of text.split("\n")) {
    if (!line.startsWith("|")) {
      head = "";
      continue;
    }
    const cells = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (head === "") head = cells.join(" | ");
    else if (!/^-+$/.test(cells[0] ?? "")) rows.push({ head, cells });
  }
  return rows;
}
