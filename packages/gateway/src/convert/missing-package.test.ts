// A program without the libraries that convert files: each file says which one to install. Node looks for them where they are not.
import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { test } from "node:test";
import { excelFile, pdfFile, wordFile } from "../../test/documents.ts";
import { CONVERTING_PACKAGES } from "./formats.ts";
import { toMarkdown } from "./to-markdown.ts";

const ELSEWHERE = "file:///a-folder-without-packages/program.js";
const absent = new Set(CONVERTING_PACKAGES.map(({ name }) => name));

test("a file whose library isn't installed says so, with what to install", async (t) => {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, absent.has(specifier.split("/", 1)[0]!) ? { ...context, parentURL: ELSEWHERE } : context),
  });
  t.after(() => hooks.deregister());
  for (const [name, bytes, install] of [
    ["a.pdf", pdfFile(["words"]), /npm install unpdf@1/],
    ["a.xlsx", excelFile("<row><c><v>1</v></c></row>"), /npm install hucre@1/],
    ["a.docx", wordFile("<w:p><w:r><w:t>words</w:t></w:r></w:p>"), /npm install mammoth@1 hast-util-from-html@2/],
    ["a.html", Buffer.from("<p>words"), /npm install hast-util-from-html@2/],
  ] as const) {
    const conversion = await toMarkdown(name, bytes);
    assert.ok(conversion.kind === "failed", name);
    assert.equal(conversion.code, "missing-package", `${name}: ${conversion.problem}`);
    assert.match(conversion.problem, install, name);
  }
});

test("what needs no library is converted without any", async () => {
  const notebook = { cells: [{ cell_type: "markdown", source: "# Words" }] };
  const conversion = await toMarkdown("a.ipynb", Buffer.from(JSON.stringify(notebook)));
  assert.deepEqual(conversion, { kind: "converted", text: "# Words\n" });
});
