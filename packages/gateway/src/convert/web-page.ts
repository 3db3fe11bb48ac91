/**
 * A web page as Markdown: headings, paragraphs, lists, links, code and tables. Scripts, styles, pictures and hidden parts
 * are left out, and links that lead nowhere a reader could go. The page is parsed as browsers do it.
 */
import type { Handle } from "hast-util-to-mdast";
import type { Handle as WriteHandle } from "mdast-util-to-markdown";
import { MOST_COLUMNS, MOST_ROWS, tableLines } from "./table.ts";

type Element = Parameters<Handle>[1];
type Child = Element["children"][number];

export async function* webPageMarkdown(html: string): AsyncGenerator<string> {
  const { fromHtml } = await import("hast-util-from-html");
  const { defaultHandlers, toMdast } = await import("hast-util-to-mdast");
  const { toMarkdown } = await import("mdast-util-to-markdown");
  const page = fromHtml(html);
  leaveOut(page);
  const a: Handle = (state, link) =>
    /^https?:\/\//.test(String(link.properties["href"])) ? defaultHandlers.a(state, link) : state.all(link);
  const document = toMdast(page, { document: true, handlers: { a, img: alternative, table, ...CELLS } });
  const blocks = "children" in document ? document.children : [];
  for (let at = 0; at < blocks.length; at += BATCH) {
    const tree = { ...document, children: blocks.slice(at, at + BATCH) } as Parameters<typeof toMarkdown>[0];
    yield `${toMarkdown(tree, { bullet: "-", rule: "-", handlers: { table: tableText, break: () => "\n" } })}\n\n`;
  }
}

/** Blocks that are written at a time: the writer can be ended between two of them. */
const BATCH = 50;

const SILENT: ReadonlySet<string> = new Set(["script", "style", "noscript", "template", "svg", "head", "iframe"]);

/** Takes out what isn't shown. Without recursion: a page may be nested as deep as it likes. */
function leaveOut(page: { children: unknown[] }): void {
  const parents = [page as { children: Child[] }];
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    parent.children = parent.children.filter(
      (child) =>
        child.type === "text" ||
        (child.type === "element" && !SILENT.has(child.tagName) && child.properties["hidden"] === undefined),
    );
    for (const child of parent.children) if (child.type === "element") parents.push(child);
  }
}

/** What stands for a picture. */
const alternative: Handle = (_, image) => {
  const value = String(image.properties["alt"] ?? "");
  return value === "" ? undefined : { type: "text", value };
};

const inner: Handle = (state, element) => state.all(element);
const CELLS = { tr: inner, td: inner, th: inner };

/** Rows and cells as they stand, unlike the library's, which pads all of them. A table in a table is only its words. */
const table: Handle = (state, element) => {
  if (state.inTable) return state.all(element);
  state.inTable = true;
  const cellsOf = (row: Element) =>
    elementsIn(row, ["td", "th"])
      .slice(0, MOST_COLUMNS)
      .map((cell) => ({ type: "tableCell", children: state.toFlow(state.all(cell)) }));
  const rows = elementsIn(element, ["tr"])
    .slice(0, MOST_ROWS + 1)
    .map((row) => ({ type: "tableRow", children: cellsOf(row) }));
  state.inTable = false;
  // Cells hold blocks here, which the type has no word for: our own writer puts them on one line.
  return { type: "table", children: rows } as unknown as ReturnType<Handle>;
};

/** Those of the element itself, not of what is nested in one. */
function elementsIn(element: Element, names: readonly string[]): Element[] {
  return element.children.flatMap((child) => {
    if (child.type !== "element") return [];
    if (names.includes(child.tagName)) return [child];
    return /^(?:thead|tbody|tfoot)$/.test(child.tagName) ? elementsIn(child, names) : [];
  });
}

const tableText: WriteHandle = (node, _, state, info) => {
  const { children: rows } = node as { readonly children: readonly { readonly children: readonly never[] }[] };
  return [...tableLines(rows.map(({ children }) => children.map((cell) => state.containerFlow(cell, info))))].join("");
};
