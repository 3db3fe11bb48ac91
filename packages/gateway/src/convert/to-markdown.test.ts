import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { excelFile, pdfFile, wordFile } from "../../test/documents.ts";
import { zip } from "../../test/zip.ts";
import { CONVERTING_PACKAGES } from "./formats.ts";
import { toMarkdown } from "./to-markdown.ts";

async function converted(name: string, bytes: Buffer | string): Promise<string> {
  const result = await toMarkdown(name, Buffer.from(bytes));
  assert.ok(result.kind === "converted", JSON.stringify(result));
  return result.text;
}

test("a web page keeps its headings, lists, links, code and tables, and none of its scripts", async () => {
  const page = `<!doctype html><head><title>No</title><style>p{}</style></head><body><h1>Herons &amp; cranes</h1>
    <p>They <b>wade</b>,<br>see <a href="https://birds.example/x">more</a> and <a href="javascript:alert(1)">this</a>.</p>
    <script>alert("<p>no</p>")</script><ul><li>grey<li>white</ul><ol><li>one<ul><li>in</ul><li>two</ol><pre>a  b
  c</pre><table><tr><th>bird<th>legs</tr><tr><td>heron</td><td>2 | two<p>or more</td></tr></table>
    <div hidden>no</div><blockquote>q<p>r</blockquote><img alt="a crane" src="data:x"><!-- <p>no</p> --></body>`;
  assert.equal(
    await converted("page.HTML", page),
    [
      "# Herons & cranes",
      "",
      "They **wade**,",
      "see [more](https://birds.example/x) and this.",
      "",
      "- grey",
      "- white",
      "",
      "1. one",
      "   - in",
      "2. two",
      "",
      "```",
      "a  b",
      "  c",
      "```",
      "",
      "| bird | legs |",
      "| --- | --- |",
      "| heron | 2 \\| two or more |",
      "",
      "> q",
      ">",
      "> r",
      "",
      "a crane",
      "",
    ].join("\n"),
  );
});

test("a Word file gives its paragraphs, headings, lists and tables", async () => {
  const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
  const cell = (text: string) => `<w:tc><w:p>${run(text)}</w:p></w:tc>`;
  const body = `<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr>${run("A plan")}</w:p>
    <w:p>${run("One &lt;two&gt;")}${run(" three")}</w:p>
    <w:tbl><w:tr>${cell("k")}${cell("v")}</w:tr><w:tr>${cell("a")}${cell("1")}</w:tr></w:tbl>`;
  const text = await converted("plan.docx", wordFile(body));
  assert.equal(text, "## A plan\n\nOne \\<two> three\n\n| k | v |\n| --- | --- |\n| a | 1 |\n");
});

test("slides come in their order", async () => {
  const slide = (text: string) => `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`;
  const deck = zip({ "ppt/slides/slide10.xml": slide("last &amp; least"), "ppt/slides/slide2.xml": slide("first") });
  assert.equal(await converted("deck.pptx", deck), "## Slide 1\n\nfirst\n\n## Slide 2\n\nlast & least\n");
});

test("a sheet gives its name, shared texts, numbers and gaps", async () => {
  const rows =
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row r="2"><c r="A2" t="inlineStr"><is><t>heron</t></is></c><c r="C2"><v>2</v></c></row>';
  const book = excelFile(rows, "<si><t>bird</t></si><si><r><t>le</t></r><r><t>gs</t></r></si>");
  const table = "| bird |  | legs |\n| --- | --- | --- |\n| heron |  | 2 |";
  assert.equal(await converted("book.xlsx", book), `## Sums\n\n${table}\n`);
});

test("a PDF gives the words of each page, line by line", async () => {
  const text = await converted("paper.pdf", pdfFile(["Herons wade.\nThey fish.", "Cranes dance."]));
  assert.equal(text, "## Page 1\n\nHerons wade.\nThey fish.\n\n## Page 2\n\nCranes dance.\n");
});

test("a notebook gives its texts, its code and what it printed", async () => {
  const cells = [
    { cell_type: "markdown", source: ["# Sums\n", "of birds"] },
    { cell_type: "code", source: "1 + 1", outputs: [{ data: { "text/plain": ["2"] } }, { text: "done" }] },
  ];
  const text = await converted("sums.ipynb", JSON.stringify({ cells }));
  assert.equal(text, "# Sums\nof birds\n\n```python\n1 + 1\n```\n\n```\n2\n```\n\n```\ndone\n```\n");
});

test("what a model reads as it is stays", async () => {
  for (const name of ["notes.md", "data.csv", "photo.png", "archive.zip", "noending", "x.__proto__"])
    assert.deepEqual(await toMarkdown(name, Buffer.from("x")), { kind: "as-is" }, name);
});

test("what is not what it says is told, whatever it is", async () => {
  for (const [name, bytes, code] of [
    ["a.docx", "not a zip", "unreadable"],
    ["a.docx", zip({ "other.xml": "x" }), "unreadable"],
    ["a.xlsx", zip({ "word/document.xml": "x" }), "unreadable"],
    ["a.pptx", "", "unreadable"],
    ["a.pdf", "%PDF-1.4 and no more", "unreadable"],
    ["a.ipynb", "{", "unreadable"],
    ["a.ipynb", "{}", "unreadable"],
    ["a.html", "<p></p>", "no-text"],
    ["a.pdf", pdfFile([""]), "no-text"],
    ["a.docx", Buffer.from("PK\x05\x06".padEnd(22, "\xff"), "latin1"), "unreadable"],
    ["a.docx", wordFile("<w:p/>").fill(0x41, 40, 60), "unreadable"],
  ] as const) {
    const result = await toMarkdown(name, Buffer.from(bytes as string));
    assert.equal(result.kind === "failed" ? result.code : result.kind, code, `${name} ${String(bytes).slice(0, 20)}`);
  }
});

test("an archive that unpacks to far more than it is, is refused", async () => {
  const bomb = zip({ "word/document.xml": " ".repeat(200 << 20) });
  assert.ok(bomb.length < 1 << 20);
  const result = await toMarkdown("bomb.docx", bomb);
  assert.match(result.kind === "failed" ? result.problem : "", /more than is read/);
});

test("a page whose tags are nested without end is refused by name", async () => {
  const result = await toMarkdown("deep.html", Buffer.from(`${"<div>".repeat(200_000)}end`));
  assert.match(result.kind === "failed" ? result.problem : "", /nested too deep/);
});

test("a sheet with one cell in its last corner is small all the same", async () => {
  const book = excelFile(
    '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>',
  );
  assert.equal(await converted("far.xlsx", book), "## Sums\n\n| 1 |\n| --- |\n");
});

test("rows and columns beyond a limit are left out, and none is padded", async () => {
  const wide = `<table><tr>${"<td>x".repeat(1000)}${"<tr><td>y".repeat(6000)}</table>`;
  const lines = (await converted("wide.html", wide)).split("\n");
  assert.equal(lines[0]!.split("|").length, 202);
  assert.equal(lines[2], "| y |");
  assert.equal(lines.filter((line) => line === "| y |").length, 4999);
  assert.match(lines.join("\n"), /only the first 5000 rows/);
});

test("the packages named in errors are the optional peers, in versions they allow", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const names = CONVERTING_PACKAGES.map(({ name }) => name);
  assert.deepEqual(names.toSorted(), Object.keys(manifest.peerDependenciesMeta).toSorted());
  for (const { name, version } of CONVERTING_PACKAGES)
    assert.ok(manifest.peerDependencies[name].startsWith(`^${version}.`), name);
  const command = JSON.parse(readFileSync(new URL("../../../cli/package.json", import.meta.url), "utf8"));
  assert.deepEqual(
    names.filter((name) => command.dependencies[name] === undefined),
    [],
    "the command brings them",
  );
});
