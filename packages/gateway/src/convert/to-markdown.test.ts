import assert from "node:assert/strict";
import { test } from "node:test";
import { zip } from "../../test/zip.ts";
import { toMarkdown } from "./to-markdown.ts";

function converted(name: string, bytes: Buffer | string): string {
  const result = toMarkdown(name, Buffer.from(bytes));
  assert.ok(result.kind === "converted", JSON.stringify(result));
  return result.text;
}

test("a web page keeps its headings, lists, links, code and tables, and none of its scripts", () => {
  const page = `<!doctype html><head><title>No</title><style>p{}</style></head><body><h1>Herons &amp; cranes</h1>
    <p>They <b>wade</b>,<br>see <a href="https://birds.example/x (1)">more</a> and <a href="javascript:alert(1)">this</a>.</p>
    <script>alert("<p>no</p>")</script><ul><li>grey<li>white</ul><pre>a  b
  c</pre><table><tr><th>bird<th>legs</tr><tr><td>heron</td><td>2 | two</td></tr></table><!-- <p>hidden</p> --></body>`;
  assert.equal(
    converted("page.HTML", page),
    [
      "# Herons & cranes",
      "",
      "They **wade**,",
      "see [more](https://birds.example/x%20(1)) and this.",
      "",
      "- grey",
      "- white",
      "",
      "```",
      "a  b",
      "  c",
      "```",
      "",
      "| bird | legs |",
      "| --- | --- |",
      "| heron | 2 \\| two |",
      "",
    ].join("\n"),
  );
});

test("a Word file gives its paragraphs, headings, lists and tables", () => {
  const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
  const cell = (text: string) => `<w:tc><w:p>${run(text)}</w:p></w:tc>`;
  const document = `<w:document><w:body><w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr>${run("A plan")}</w:p>
    <w:p>${run("One &lt;two&gt;")}${run(" three")}</w:p><w:p><w:pPr><w:numPr/></w:pPr>${run("first")}</w:p>
    <w:tbl><w:tr>${cell("k")}${cell("v")}</w:tr><w:tr>${cell("a")}${cell("1")}</w:tr></w:tbl></w:body></w:document>`;
  const text = converted("plan.docx", zip({ "word/document.xml": document }));
  assert.equal(text, "## A plan\n\nOne <two> three\n\n- first\n\n| k | v |\n| --- | --- |\n| a | 1 |\n");
});

test("slides come in their order, and sheets with names, shared texts and gaps", () => {
  const slide = (text: string) => `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`;
  const deck = zip({ "ppt/slides/slide10.xml": slide("last"), "ppt/slides/slide2.xml": slide("first") });
  assert.equal(converted("deck.pptx", deck), "## Slide 1\n\nfirst\n\n## Slide 2\n\nlast\n");
  const book = zip({
    "xl/workbook.xml": '<workbook><sheets><sheet name="Sums" sheetId="1"/></sheets></workbook>',
    "xl/sharedStrings.xml": "<sst><si><t>bird</t></si><si><r><t>le</t></r><r><t>gs</t></r></si></sst>",
    "xl/worksheets/sheet1.xml":
      '<worksheet><row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row r="2"><c r="A2" t="inlineStr"><is><t>heron</t></is></c><c r="C2"><v>2</v></c></row></worksheet>',
  });
  assert.equal(converted("book.xlsx", book), "## Sums\n\n| bird |  | legs |\n| --- | --- | --- |\n| heron |  | 2 |\n");
});

test("a notebook gives its texts, its code and what it printed", () => {
  const cells = [
    { cell_type: "markdown", source: ["# Sums\n", "of birds"] },
    { cell_type: "code", source: "1 + 1", outputs: [{ data: { "text/plain": ["2"] } }, { text: "done" }] },
  ];
  const text = converted("sums.ipynb", JSON.stringify({ cells }));
  assert.equal(text, "# Sums\nof birds\n\n```python\n1 + 1\n```\n\n```\n2\n```\n\n```\ndone\n```\n");
});

test("what a model reads as it is stays; what is not what it says is told, whatever it is", () => {
  for (const name of ["notes.md", "data.csv", "photo.png", "archive.zip", "noending", "x.__proto__"])
    assert.deepEqual(toMarkdown(name, Buffer.from("x")), { kind: "as-is" }, name);
  for (const [name, bytes] of [
    ["a.docx", "not a zip"],
    ["a.docx", zip({ "other.xml": "x" })],
    ["a.xlsx", zip({ "word/document.xml": "x" })],
    ["a.pptx", ""],
    ["a.ipynb", "{"],
    ["a.ipynb", "{}"],
    ["a.html", "<p></p>"],
    ["a.docx", Buffer.from("PK\x05\x06".padEnd(22, "\xff"), "latin1")],
    ["a.docx", zip({ "word/document.xml": "<w:t>x</w:t>" }).fill(0x41, 40, 60)],
  ] as const)
    assert.equal(
      toMarkdown(name, Buffer.from(bytes as string)).kind,
      "failed",
      `${name} ${String(bytes).slice(0, 20)}`,
    );
});

test("a file that unpacks to far more than it is, and one that never closes anything, end soon", () => {
  const bomb = zip({ "word/document.xml": " ".repeat(200 << 20) });
  assert.ok(bomb.length < 1 << 20);
  const result = toMarkdown("bomb.docx", bomb);
  assert.match(result.kind === "failed" ? result.problem : "", /more than is read/);
  const open = toMarkdown("deep.html", Buffer.from(`${"<div><a href=x>".repeat(200_000)}end${"<".repeat(200_000)}`));
  assert.equal(open.kind, "converted");
});
