/**
 * Copies the guides, the decisions, the generated reference and the pages of the repository's root into `pages/`, from which
 * the site is built. A link to a file that has no page becomes plain text, so that the generator's check for dead links
 * means every link that is left.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";

const site = dirname(fileURLToPath(import.meta.url));
const root = join(site, "..");
const docs = join(root, "docs");
const out = join(site, "pages");
/** Pages of the repository's root, by the name they have on the site. */
const ROOT_PAGES = {
  "README.md": "index.md",
  "ARCHITECTURE.md": "architecture.md",
  "CONTRIBUTING.md": "contributing.md",
  "CHANGELOG.md": "changelog.md",
};

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
execFileSync("npm", ["run", "-s", "api-reference"], { cwd: root, stdio: "inherit" });
for (const path of readdirSync(docs, { recursive: true }).map(String))
  if (/\.(?:md|png|svg)$/.test(path)) put(join("docs", path), path);
for (const [from, to] of Object.entries(ROOT_PAGES)) put(from, to);

function put(from, to) {
  const target = join(
    out,
    to === "decisions/README.md" ? "decisions/index.md" : to === "api/README.md" ? "api/index.md" : to,
  );
  mkdirSync(dirname(target), { recursive: true });
  if (!from.endsWith(".md")) return cpSync(join(root, from), target);
  const text = readFileSync(join(root, from), "utf8").replace(/<!--[\s\S]*?-->\n?/g, "");
  writeFileSync(target, linked(withContainers(text), from));
}

/** The site shows no HTML: what is folded away becomes a container of its own. */
function withContainers(text) {
  return text.replace(
    /<details>\n<summary>(.*)<\/summary>\n([\s\S]*?)\n<\/details>/g,
    (_, summary, folded) => `::: details ${summary}\n${folded}\n:::`,
  );
}

/** Links relative to the repository become links between pages; what has no page is named only. */
function linked(text, from) {
  return text.replace(/(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)\s]+)\)/g, (_, image, label, link) => {
    const [path, hash] = link.split("#");
    const file = posix.join(posix.dirname(from), path);
    const page = pageOf(file);
    if (page === null) return label;
    const here = pageOf(from) ?? from;
    const address = relative(dirname(here), page) || page;
    return `${image}[${label}](${address.startsWith(".") ? address : `./${address}`}${hash === undefined ? "" : `#${hash}`})`;
  });
}

/** Where a file of the repository stands on the site; null if it has no page. */
function pageOf(file) {
  if (file in ROOT_PAGES) return ROOT_PAGES[file];
  if (!file.startsWith("docs/") || !existsSync(join(root, file))) return null;
  const path = file.slice("docs/".length);
  if (path === "decisions/README.md" || path === "decisions") return "decisions/index.md";
  if (path === "api/README.md" || path === "api") return "api/index.md";
  return /\.(?:md|png|svg)$/.test(path) ? path : null;
}
