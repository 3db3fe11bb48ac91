// The page of benchmarks: measured rows have their command, and what was not measured says so.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { lineChart, panelChart, scatterChart } from "../bench/report/charts.ts";
import { type Result, renderPage, renderReadme } from "../bench/report/page.ts";
import { commandOf, STEPS } from "../bench/report/plan.ts";
import { renderCharts } from "../bench/report/published-charts.ts";
import { percent, percentUp, times, withHeldOut } from "../bench/report/write.ts";

const MACHINE = { cores: 2, memory: "8 GiB", node: "v24.0.0", system: "linux", load: 1 };

function results(outcomeOf: (id: string) => Result["outcome"]): Result[] {
  return STEPS.map((step) => {
    const about = { id: step.id, command: commandOf(step), machine: MACHINE, versions: { palimpsest: "0.1.0" } };
    return { ...about, seconds: 30, outcome: outcomeOf(step.id) };
  });
}

test("a bench without its data, or that failed, is one row that says why and keeps its command", () => {
  const page = renderPage(
    results((id) => (id === "turn" ? { kind: "failed", why: "too slow" } : { kind: "no-data", file: "x.jsonl" })),
  );
  assert.match(page, /\nCommand: `npm run bench -- turn .+`\n\n\| what \|\n\| --- \|\n\| not measured: too slow \|\n/);
  const told = /not measured: x\.jsonl was not there; name its folder: `npm run bench -- all --data FOLDER`/g;
  assert.equal(page.match(told)?.length, STEPS.length - 1);
  for (const step of STEPS) assert.ok(page.includes(`\`${commandOf(step)}\``), step.id);
});

test("a comparison without its peers says how to install them", () => {
  const page = renderPage(
    results((id) =>
      id === "peer-playback" ? { kind: "measured", figures: { rows: [] } } : { kind: "no-data", file: "x" },
    ),
  );
  assert.match(
    page,
    /\nCommand: `npm run bench -- peer-playback .+`\n\n.+\n.+\n\| not compared: no peer is installed; `npm ci --prefix bench` \|\n/,
  );
});

test("a measured peer stands beside ours with the ratio, also where the peer is better", () => {
  const about = { messages: 100, shown: 102 };
  const rows = [
    { who: "all in view", ...about, cpuMs: 10, ms: 20, bytes: 10_000 },
    { who: "LangChain createAgent, durability exit", ...about, cpuMs: 30, ms: 10, bytes: 1_000_000 },
  ];
  const page = renderPage(
    results((id) => (id === "turn" ? { kind: "measured", figures: { rows } } : { kind: "no-data", file: "x.jsonl" })),
  );
  assert.match(page, /\| 100 messages, all in view on both sides: LangChain createAgent, durability exit \|/);
  for (const row of [
    "CPU | 10 ms | 30 ms | 3.00x",
    "time | 20 ms | 10 ms | 0.50x",
    "bytes written | 10.0 kB | 1.0 MB | 100x",
  ])
    assert.ok(page.includes(`durability exit | ${row} |`), row);
});

test("the page begins with every row in which a peer is better, and with no other", () => {
  const behind = (ms: number): string => {
    const about = { messages: 100, shown: 102, cpuMs: 10, bytes: 10_000 };
    const rows = [
      { who: "all in view", ...about, ms: 20 },
      { who: "LangChain createAgent, durability exit", ...about, ms },
    ];
    const page = renderPage(
      results((id) => (id === "turn" ? { kind: "measured", figures: { rows } } : { kind: "no-data", file: "x" })),
    );
    return page.slice(page.indexOf("## Where a peer is better"), page.indexOf("## Three pictures"));
  };
  assert.match(behind(10), /\n {2}- 100 messages, all in view .+, time: 20 ms against 10 ms \(0\.50x\)/);
  assert.match(behind(10), /\| One turn on a long thread \| 1 \| 3 \| 0\.50x \|/);
  assert.match(behind(20), /\nIn no row below\.\n/);
});

test("the page can be read: it begins with a line a subject, then the charts, and long tables are folded", () => {
  const page = renderPage(committed);
  const inSight = page.replaceAll(/<details>[\s\S]*?<\/details>/g, "");
  assert.ok(inSight.split("\n").length < 400, `${inSight.split("\n").length} lines`);
  const places = ["## Where a peer is better", "charts/evidence.svg", "charts/turn.svg", "charts/cost.svg", "\nData: "];
  const found = places.map((one) => inSight.indexOf(one));
  assert.ok(
    found.every((at, index) => at > (found[index - 1] ?? -1)),
    String(found),
  );
});

test("every cell of the published tables holds one number", () => {
  let columns: readonly string[] = [];
  let cells = 0;
  for (const line of renderPage(committed).split("\n")) {
    if (!line.startsWith("| ")) continue;
    const row = line.slice(2, -2).split(" | ");
    if (row[0] === "what") columns = row;
    for (const [index, cell] of row.entries()) {
      if (!["ours", "theirs", "ratio"].includes(columns[index]!)) continue;
      cells += 1;
      assert.ok((cell.match(/\d[\d,.]*/g) ?? []).length <= 1, line);
    }
  }
  assert.ok(cells > 300, "the tables were read");
});

test("shares and ratios are rounded down and errors up, so that no figure says more than was measured", () => {
  assert.equal(percent(0.9954, 0), "99 %");
  assert.equal(percent(1, 0), "100 %");
  assert.equal(percent(0.29), "29.0 %");
  assert.equal(percentUp(0.00111), "0.2 %");
  assert.equal(percentUp(0), "0.0 %");
  assert.equal(times(0.999), "0.99x");
  assert.equal(times(15.9), "15x");
});

test("what was measured on data held out stands below the rest, and without any the table says so", () => {
  const rows = ({ share }: { share: number }) => [{ what: "known", ours: percent(share, 0) }];
  const [, given] = withHeldOut({ share: 0.9, heldOut: { share: 0.8 } }, rows);
  assert.deepEqual(given, { what: "held out: known", ours: "80 %" });
  assert.match(withHeldOut({ share: 0.9 }, rows).at(-1)!.what, /held out: not given here/);
});

test("each table says what its data was and how busy the machine was", () => {
  const page = renderPage(committed);
  assert.equal(page.match(/^Data: .+$/gm)?.length, STEPS.length);
  assert.match(page, /^Data: .*tuned on.* Load when the run began: [\d.]+\.$/m);
});

test("a run beside other work says so", () => {
  const quiet = results(() => ({ kind: "failed", why: "x" }));
  const [first, ...rest] = quiet;
  const loud = [{ ...first!, machine: { ...MACHINE, load: 9 } }, ...rest];
  assert.doesNotMatch(renderPage(quiet), /other work/);
  assert.match(renderPage(loud), /other work/);
});

test("the README's table is written anew between its marks, and left alone when a row of it was not measured", () => {
  const text = "before\n<!-- measured -->\nold\n<!-- end -->\nafter\n";
  const whole = renderReadme(text, committed);
  assert.match(whole, /^before\n<!-- measured -->\n\| \| Palimpsest [\s\S]*\n<!-- end -->\nafter\n$/);
  assert.match(whole, /\| CPU of one turn .* \| \*\*\d+ ms\*\* \| \d+ ms \|\n/);
  const partly = committed.map((one) =>
    one.id === "turn" ? { ...one, outcome: { kind: "no-data" as const, file: "x" } } : one,
  );
  assert.equal(renderReadme(text, partly), text);
});

test("the published page, its charts and the README's table are those of the committed results", () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
  assert.equal(renderPage(committed), read("../docs/benchmarks.md"));
  assert.equal(renderReadme(read("../README.md"), committed), read("../README.md"));
  for (const [file, svg] of renderCharts(committed)) assert.equal(svg, read(`../docs/charts/${file}`), file);
});

test("a chart names each series beside its last figure, keeps the labels apart and escapes what it is given", () => {
  const axis = { label: "n", scale: "linear" as const, ticks: [0, 10], show: String };
  const options = { title: "a < b", subtitle: "c", x: axis, y: axis };
  const points = [[0, 1] as const, [10, 5] as const];
  const svg = lineChart(
    [
      { name: "ours & theirs", points, isOurs: true },
      { name: "other", points, isOurs: false },
    ],
    options,
  );
  assert.match(svg, /a &lt; b/);
  assert.match(svg, /ours &amp; theirs: 5</);
  const labels = [...svg.matchAll(/<text x="534" y="([\d.]+)">/g)].map(([, place]) => Number(place));
  assert.equal(labels.length, 2);
  assert.ok(Math.abs(labels[0]! - labels[1]!) >= 17);
  const dot = { x: 5, y: 5, label: "dot", isHeldOut: true };
  const scatter = scatterChart([{ name: "ours", isOurs: true, dots: [dot, { ...dot, isHeldOut: false }] }], options);
  assert.match(scatter, /<circle class="filled" cx="294"[^>]+><text[^>]*>dot<\/text><circle class="hollow" cx="294"/);
  const panels = panelChart(
    ["one", "two"].map((title) => ({ title, series: [{ name: "ours & theirs", points, isOurs: true }] })),
    options,
  );
  assert.equal(panels.match(/<polyline/g)?.length, 3, "a line in each panel and one in the legend");
  assert.equal(panels.match(/ours &amp; theirs/g)?.length, 1, "each name once");
});

/** A step that is new has no result until it was run; its row says so. */
const committed = results(() => ({ kind: "failed", why: "never run" })).map((one) =>
  existsSync(resultFile(one.id)) ? published(one.id) : { ...one, versions: {} },
);

function resultFile(id: string): URL {
  return new URL(`../bench/results/${id}.json`, import.meta.url);
}

function published(id: string): Result {
  return JSON.parse(readFileSync(resultFile(id), "utf8")) as Result;
}
