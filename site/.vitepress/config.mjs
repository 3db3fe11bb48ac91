import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitepress";

const pages = new URL("../pages/", import.meta.url);
const groups = JSON.parse(readFileSync(new URL("../pages.json", import.meta.url), "utf8"));

/** A page's own first heading. */
function title(path) {
  return /^# (.+)$/m.exec(readFileSync(new URL(path, pages), "utf8"))?.[1].replace(/`/g, "") ?? path;
}

function items(paths) {
  return paths.map((path) => ({ text: title(`${path}.md`), link: `/${path}` }));
}

function folder(name) {
  const files = readdirSync(new URL(`${name}/`, pages)).filter((file) => file.endsWith(".md") && file !== "index.md");
  return items(files.sort().map((file) => `${name}/${file.slice(0, -3)}`));
}

/** Marked while one of its pages is shown. */
function tab(text, link, paths) {
  return { text, link, activeMatch: `^/(${paths.join("|")})$` };
}

/** A typing error in five letters is forgiven; titles count most. */
const SEARCH = { fuzzy: 0.2, prefix: true, combineWith: "AND", boost: { title: 4, titles: 2, text: 1 } };

export default defineConfig({
  title: "Palimpsest",
  description:
    "A context-engineering runtime for LLM agents: conversations of any length in any window, and nothing lost.",
  srcDir: "pages",
  cleanUrls: true,
  lastUpdated: false,
  // Guides quote tags such as <memory>: they are text, never elements.
  markdown: { config: (md) => md.set({ html: false }), headers: { level: [2, 3] } },
  themeConfig: {
    search: {
      provider: "local",
      options: { miniSearch: { options: { processTerm: searchedTerm }, searchOptions: SEARCH } },
    },
    outline: [2, 3],
    nav: [
      tab("Start", "/installing", groups.Start),
      tab("Guides", "/agent", groups.Guides),
      tab("Gateway", "/gateway", groups.Gateway),
      tab("Reference", "/configuration", [...groups.Reference, "api/.*"]),
      tab("Decisions", "/decisions/", ["decisions/.*"]),
      tab("Benchmarks", "/benchmarks", groups.Benchmarks),
    ],
    sidebar: [
      { text: "Start", items: [{ text: "What it is", link: "/" }, ...items(groups.Start)] },
      { text: "Guides", collapsed: true, items: items(groups.Guides) },
      { text: "Gateway", collapsed: true, items: items(groups.Gateway) },
      {
        text: "Reference",
        collapsed: true,
        items: [...items(groups.Reference), { text: "API", link: "/api/", collapsed: true, items: folder("api") }],
      },
      { text: "Benchmarks", collapsed: true, items: items(groups.Benchmarks) },
      { text: "Decisions", collapsed: true, link: "/decisions/", items: folder("decisions") },
      {
        text: "The repository",
        collapsed: true,
        items: items(["architecture", "contributing", "changelog"]),
      },
    ],
  },
});

/** Null for words that stand on every page. VitePress sends this function to the browser, so it uses nothing outside of itself. */
function searchedTerm(term) {
  const word = term.toLowerCase();
  return /^(?:a|an|and|are|as|at|be|by|do|for|how|i|in|is|it|my|of|on|or|the|to|what|with)$/.test(word) ? null : word;
}
