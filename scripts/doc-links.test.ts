// Links between our own pages lead somewhere: to a file that is there, and to a heading that it has.
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

test("a heading is linked to as GitHub names it", () => {
  const page = "# The `agent`, and more\n## Runs\n```\n# no heading\n```\n## Runs\n### What's *new*?\n";
  assert.deepEqual([...anchorsOf(page)], ["the-agent-and-more", "runs", "runs-1", "whats-new"]);
});

test("every link of the guides, decisions and READMEs to a page of ours leads to it", () => {
  const pages = globSync(["*.md", "docs/**/*.md", "packages/*/README.md"], { cwd: root });
  assert.ok(pages.length > 80, `${pages.length} pages`);
  const broken = pages.flatMap((page) => {
    const text = readFileSync(join(root, page), "utf8");
    return linksIn(text).flatMap((link) => (leads(page, text, link) ? [] : [`${page}: ${link}`]));
  });
  assert.deepEqual(broken, []);
});

function linksIn(text: string): string[] {
  const links = [...withoutCode(text).matchAll(/\]\(([^()\s]+)\)/g)].map(([, link]) => link!);
  return links.filter((link) => !/^[a-z]+:/.test(link));
}

function leads(page: string, text: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : relative(root, join(root, dirname(page), path));
  if (!existsSync(join(root, target))) return false;
  if (anchor === undefined || !target.endsWith(".md")) return true;
  return anchorsOf(path === "" ? text : readFileSync(join(root, target), "utf8")).has(anchor);
}

function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading] of withoutCode(text).matchAll(/^#{1,6} (.*)$/gm)) {
    const words = heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const name = words.replaceAll(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
    let again = 0;
    while (anchors.has(again === 0 ? name : `${name}-${again}`)) again += 1;
    anchors.add(again === 0 ? name : `${name}-${again}`);
  }
  return anchors;
}

function withoutCode(text: string): string {
  return text.replaceAll(/^```.*\n(?:(?!```).*\n)*```$/gm, "");
}
