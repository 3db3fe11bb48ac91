/**
 * A thread as one page with everything that is known of it: the window as it stands, every request as a point of a curve,
 * what each of the newest held, every compaction with its summary, and all that was said. No script, nothing loaded; every
 * word is escaped. Written piece by piece.
 */
import { exportThread } from "../export/export-thread.ts";
import { escaped } from "../export/html.ts";
import type { Home } from "../home/open-home.ts";
import { request, timeline } from "./looking.ts";
import type { OperationOptions } from "./operation.ts";
import { window } from "./reading.ts";

type WindowNow = Awaited<ReturnType<typeof window.run>>;
type OverTime = Awaited<ReturnType<typeof timeline.run>>;

/** Each is put together from the log: more of them would take long and say little. */
const MOST_REQUESTS = 200;

export async function* fullPage(home: Home, threadId: string, options: OperationOptions): AsyncGenerator<string> {
  const now = await window.run(home, { thread: threadId }, options);
  const course = await timeline.run(home, { thread: threadId }, options);
  let isHead = true;
  for await (const piece of exportThread(home.store, threadId, "html")) {
    yield piece;
    if (!isHead) continue;
    isHead = false;
    yield aboutHtml(now, course);
    yield `<nav><a href="#window">Window</a> · <a href="#requests">Requests</a> · <a href="#compactions">Compactions</a> · <a href="#said">What was said</a></nav>\n`;
    yield windowHtml(now);
    yield curveHtml(course);
    yield* requestsHtml(home, course, options);
    yield* compactionsHtml(home, threadId);
    yield `<section id="said"><h2>What was said</h2></section>\n`;
  }
}

function aboutHtml({ thread, messages }: WindowNow, { requests }: OverTime): string {
  const facts = [`Thread ${escaped(thread)}`, counted(messages, "message"), counted(requests.length, "request")];
  return `<p class="about">${facts.join(" · ")}</p>\n`;
}

function windowHtml({ at, total, window: size, parts, entries, compaction }: WindowNow): string {
  const used = Object.entries(parts).filter(([, tokens]) => tokens > 0);
  const whole = Math.max(size, total, 1);
  const named = used.map(([name, tokens]) => `${escaped(PARTS[name] ?? name)} ${figure(tokens)}`);
  const color = used.map(([name]) => `background:${COLORS[name] ?? OTHER_COLOR}`);
  const bar = used.map(([, tokens], index) => {
    const width = ((tokens / whole) * 100).toFixed(2);
    return `<i style="width:${width}%;${color[index]}" title="${named[index]}"></i>`;
  });
  const key = named.map((words, index) => `<span><i style="${color[index]}"></i>${words}</span>`);
  const rows = entries.map(
    ({ seq, source, role, tokens, shortened, pinned }) =>
      `<tr><td>${seq === null ? "" : messageLink(seq)}</td><td>${escaped(role)}</td><td>${escaped(whyWords({ source, shortened, pinned }))}</td><td class="n">${figure(tokens)}</td></tr>`,
  );
  const hidden = compaction === null ? "" : ` Everything up to #${compaction.hiddenThrough} is behind one summary.`;
  const isOver = total > size;
  const words = isOver
    ? ` <strong>${figure(total - size)} tokens do not fit.</strong> The line is the end of the window.`
    : "";
  const beyond = isOver ? `<b class="beyond" style="left:${((size / whole) * 100).toFixed(2)}%"></b>` : "";
  return `<section id="window"><h2>The window at #${at}</h2>
<p>${figure(total)} of ${figure(size)} tokens.${words}${hidden}</p>
<div class="bar">${bar.join("")}${beyond}</div>
<p class="key">${key.join("")}</p>
<details><summary>${figure(entries.length)} entries</summary>
<table><tr><th>record</th><th>who</th><th>why it is there</th><th class="n">tokens</th></tr>
${rows.join("\n")}
</table></details></section>
`;
}

/** The inspector's colors. */
const COLORS: Readonly<Record<string, string>> = {
  base: "light-dark(#64748b,#7b8aa0)",
  memory: "light-dark(#8b5cb8,#a980d6)",
  instructions: "light-dark(#64748b,#7b8aa0)",
  summary: "light-dark(#c2410c,#e0632f)",
  acknowledgement: "light-dark(#e08a5b,#c9744a)",
  rules: "light-dark(#b91c5c,#e2588d)",
  evidence: "light-dark(#a2457e,#c766a2)",
  user: "light-dark(#0f766e,#1d9a8f)",
  assistant: "light-dark(#4f6bb8,#6d88d6)",
  tool: "light-dark(#8a7420,#b0953a)",
  images: "light-dark(#b4506a,#d0708a)",
  definitions: "light-dark(#475569,#98a8be)",
};
const OTHER_COLOR = "#94a3b8";

/** As a person names them. */
const PARTS: Readonly<Record<string, string>> = {
  base: "system prompt",
  tool: "tool results",
  definitions: "definitions of tools",
  unseen: "not in the file",
};

function whyWords({
  source,
  shortened = [],
  pinned,
}: Pick<WindowNow["entries"][number], "source" | "shortened" | "pinned">): string {
  const more = [...shortened.map((reason) => `shortened: ${reason}`), ...(pinned ? ["pinned"] : [])];
  return [source === "message" ? "verbatim" : source, ...more].join(", ");
}

/** The tokens of every request, with figures beside it, a line for the window and one for each compaction. */
function curveHtml({ requests, marks }: OverTime): string {
  const [first, last] = [requests[0], requests.at(-1)];
  if (first === undefined || last === undefined) return "";
  const [width, height] = [1000, 160];
  const largest = requests.reduce((most, { input }) => Math.max(most, input), 1);
  const size = last.window;
  // Where the window is far larger, the curve would be a flat line at its foot.
  const isNear = size !== null && size <= largest * 3;
  const step = halfOf(isNear ? Math.max(largest, size) : largest);
  const x = (index: number) => (requests.length === 1 ? width / 2 : (index / (requests.length - 1)) * width).toFixed(1);
  const y = (tokens: number) => (height - (tokens / (2 * step)) * height).toFixed(1);
  const points = requests.map(({ input }, index) => `${x(index)},${y(input)}`).join(" ");
  const cuts = marks
    .filter(({ kind }) => kind === "compaction")
    .map(({ seq }) => requests.findIndex((one) => one.seq > seq))
    .filter((index) => index >= 0)
    .map(
      (index) => `<line x1="${x(index)}" x2="${x(index)}" y1="0" y2="${height}" stroke="currentColor" opacity=".6"/>`,
    );
  const only = requests.length === 1 ? `<polyline class="dot" points="${points} ${points}"/>` : "";
  const limit = isNear
    ? `<line x1="0" x2="${width}" y1="${y(size)}" y2="${y(size)}" stroke="currentColor" stroke-dasharray="5 4"/>`
    : "";
  const window =
    size === null
      ? ""
      : ` ${isNear ? "The dashed line is the window of" : "The window is far above it:"} ${figure(size)}.`;
  return `<section><h2>Tokens of every request</h2>
<div class="curve"><p class="axis">${[2 * step, step, 0].map((tokens) => `<span>${figure(tokens)}</span>`).join("")}</p>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${counted(requests.length, "request")}">${cuts.join("")}${limit}<polyline points="${points}"/>${only}</svg></div>
<p class="times">${timeHtml(first.at)}${only === "" ? ` ${timeHtml(last.at)}` : ""}</p>
<p>${only === "" ? `From ${figure(first.input)} to ${figure(last.input)}, at most ${figure(largest)}` : figure(first.input)} tokens.${window}${cuts.length === 0 ? "" : " Each upright line is a compaction."}</p></section>
`;
}

/** A round figure, twice of which is enough. */
function halfOf(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(most / 2));
  return ([1, 2, 2.5, 5].find((times) => 2 * times * unit >= most) ?? 10) * unit;
}

async function* requestsHtml(
  home: Home,
  { thread, requests }: OverTime,
  options: OperationOptions,
): AsyncGenerator<string> {
  const shown = requests.slice(-MOST_REQUESTS);
  const count = shown.length < requests.length ? `the newest ${figure(shown.length)} of ` : "";
  yield `<section id="requests"><h2>Requests: ${count}${figure(requests.length)}</h2>\n`;
  let system = "";
  for (const { seq, at, model, input, cost } of shown) {
    const past = await window.run(home, { thread, at: Math.max(0, seq - 1) }, options);
    const sent = await request.run(home, { thread, seq }, options).catch(() => null);
    const text = sent === null ? null : systemText(sent.system);
    const price = cost === null ? "" : ` · $${cost.toFixed(4)}`;
    yield `<details id="r${seq}"><summary>#${seq} · ${figure(input)} tokens${price} · ${escaped(model)} · ${timeHtml(at)}</summary>
<p>${heldWords(past)} ${messageLink(seq)} answered it.</p>
${text === null ? "<p>What was sent beside the messages is not recorded.</p>" : text === system ? "<p>The same system prompt as above.</p>" : `<pre>${escaped(text)}</pre>`}
${sent === null || sent.tools.length === 0 ? "" : `<p>Tools: ${escaped(sent.tools.map(toolName).join(", "))}</p>`}
</details>
`;
    system = text ?? system;
  }
  yield "</section>\n";
}

function systemText(system: unknown): string {
  if (typeof system === "string") return system;
  return JSON.stringify(system, null, 2) ?? "";
}

function toolName(tool: unknown): string {
  return typeof tool === "object" && tool !== null && "name" in tool ? String(tool.name) : "?";
}

/** What stood in it, as links to the messages, each row of numbers as one. */
function heldWords({ entries, compaction }: WindowNow): string {
  const made = entries.filter(({ seq, source }) => seq === null && source !== "acknowledgement");
  const first = made.map(({ source }) =>
    source === "summary" && compaction !== null
      ? `<a href="#c${compaction.seq}">the summary of #1 to #${compaction.hiddenThrough}</a>`
      : escaped(source),
  );
  const runs: [from: number, to: number, count: number][] = [];
  for (const { seq } of entries) {
    if (seq === null) continue;
    const last = runs.at(-1);
    // Records between two messages of a row are reports and marks.
    if (last !== undefined && seq > last[1] && seq - last[1] <= 4) runs[runs.length - 1] = [last[0], seq, last[2] + 1];
    else runs.push([seq, seq, 1]);
  }
  const rows = runs.map(([from, to, count]) =>
    from === to ? messageLink(from) : `${messageLink(from)} to ${messageLink(to)} (${figure(count)} messages)`,
  );
  return `Held: ${[...first, ...rows].join(", ") || "nothing"}.`;
}

async function* compactionsHtml(home: Home, threadId: string): AsyncGenerator<string> {
  yield `<section id="compactions"><h2>Compactions</h2>\n`;
  let count = 0;
  for await (const { record } of home.store.records(threadId, { kinds: ["compaction"] })) {
    if (record.kind !== "compaction") continue;
    count += 1;
    const { seq, at, rung, reason, tokensBefore, tokensAfter, covers, summary } = record;
    yield `<details id="c${seq}"><summary>#${seq} · ${figure(tokensBefore)} → ${figure(tokensAfter)} tokens · ${escaped(RUNGS[rung] ?? rung)} (${escaped(reason)}) · ${timeHtml(at)}</summary>
<p>Hides ${messageLink(covers[0])} to ${messageLink(covers[1])}. In their place:</p>
<pre>${escaped(summary.text)}</pre>
</details>
`;
  }
  yield count === 0 ? "<p>Nothing was compacted.</p></section>\n" : "</section>\n";
}

const RUNGS: Readonly<Record<string, string>> = {
  prune: "old results shortened",
  rollover: "a fresh window",
  summarize: "a summary by a model",
  extract: "a summary by rules",
  clamp: "long messages shortened",
  collapse: "open calls hidden",
};

function timeHtml(at: string): string {
  return `<time>${escaped(at.slice(0, 16).replace("T", " "))}</time>`;
}

function messageLink(seq: number): string {
  return `<a href="#m${seq}">#${seq}</a>`;
}

function counted(count: number, noun: string): string {
  return `${figure(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function figure(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}
