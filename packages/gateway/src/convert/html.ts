/** A web page as Markdown: headings, paragraphs, lists, links, code and tables. Scripts, styles and hidden parts are left out. */
import { attribute, tableOf, tokens } from "./markup.ts";

const SILENT: ReadonlySet<string> = new Set(["script", "style", "noscript", "template", "svg", "head", "iframe"]);
const BLOCKS: ReadonlySet<string> = new Set(
  "p div section article main header footer nav aside ul ol dl dt dd figure figcaption blockquote form fieldset address table hr body".split(
    " ",
  ),
);
const MARKS: Readonly<Record<string, string>> = { strong: "**", b: "**", em: "*", i: "*", code: "`" };

export function htmlMarkdown(html: string): string {
  const out: string[] = [];
  const table = tableWriter(out);
  const link = linkWriter(out);
  let silent: string | null = null;
  let isPre = false;
  for (const token of tokens(html)) {
    if (silent !== null) {
      if (token.kind === "close" && token.name === silent) silent = null;
      continue;
    }
    if (token.kind === "text") {
      out.push(isPre ? token.text : token.text.replaceAll(/\s+/g, " "));
      continue;
    }
    const { name } = token;
    const isOpen = token.kind === "open";
    if (isOpen && SILENT.has(name)) silent = token.isClosed ? null : name;
    else if (name === "pre") {
      isPre = isOpen;
      out.push(isOpen ? "\n\n```\n" : "\n```\n\n");
    } else if (name === "a") link(isOpen ? token.attributes : null);
    else if (!table(name, isOpen)) out.push(written(name, isOpen ? token.attributes : null, isPre));
  }
  return lines(out.join(""));
}

/** What a tag is in Markdown; `attributes` null: it closes. */
function written(name: string, attributes: string | null, isPre: boolean): string {
  const isOpen = attributes !== null;
  if (/^h[1-6]$/.test(name)) return isOpen ? `\n\n${"#".repeat(Number(name[1]))} ` : "\n\n";
  if (name === "br") return "\n";
  if (name === "li") return isOpen ? "\n- " : "";
  if (name === "img") return isOpen ? (attribute(attributes, "alt") ?? "") : "";
  if (BLOCKS.has(name)) return "\n\n";
  return isPre ? "" : (MARKS[name] ?? "");
}

/** Takes what the rows hold out of `out` and puts a table in its place; false: the tag is none of a table's. */
function tableWriter(out: string[]): (name: string, isOpen: boolean) => boolean {
  let rows: string[][] | null = null;
  let cellFrom = 0;
  const endCell = () => {
    if (cellFrom < out.length) rows?.at(-1)?.push(out.splice(cellFrom).join(""));
    cellFrom = out.length;
  };
  return (name, isOpen) => {
    if (name === "table" && isOpen) rows = [];
    else if (rows === null) return false;
    else if (name === "table") {
      endCell();
      out.push(`\n\n${tableOf(rows)}\n\n`);
      rows = null;
    } else if (name === "tr" || name === "td" || name === "th") {
      endCell();
      if (name === "tr" && isOpen) rows.push([]);
    } else return false;
    return true;
  };
}

function linkWriter(out: string[]): (attributes: string | null) => void {
  let link: { readonly href: string; readonly from: number } | null = null;
  return (attributes) => {
    if (attributes !== null) link = { href: attribute(attributes, "href") ?? "", from: out.length };
    else if (link !== null) {
      out.push(linked(out.splice(link.from).join(""), link.href));
      link = null;
    }
  };
}

/** Only where it leads somewhere a reader could go. */
function linked(text: string, href: string): string {
  const words = text.trim();
  return /^https?:\/\//.test(href) && words !== "" ? `[${words}](${href.replaceAll(/\s/g, "%20")})` : text;
}

/** Text that was indented in the source isn't code. */
function lines(text: string): string {
  let isPre = false;
  return text
    .split("\n")
    .map((line) => {
      if (line.startsWith("```")) isPre = !isPre;
      return isPre ? line : line.trimStart();
    })
    .join("\n");
}
