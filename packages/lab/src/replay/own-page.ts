/** A person's own sessions on one self-contained page: what each cost, would have cost, and what of it was lost. */
import { PRICES_AS_OF } from "palimpsest/internal/models";
import { escaped } from "./drawn.ts";
import { type OwnReport, type OwnSession, ownTotals } from "./own-sessions.ts";
import { type PageAbout, STYLE } from "./report-page.ts";

export function ownPage({ sessions, problems }: OwnReport, about: PageAbout): string {
  const totals = ownTotals(sessions);
  const names = totals.policies.map(({ name }) => name);
  const head = ["session", "messages", "spent", ...names, "used again", ...names.map((name) => `lost: ${name}`)];
  const order = sessions.toSorted((a, b) => (b.spent ?? 0) - (a.spent ?? 0));
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Palimpsest: my sessions</title>
<style>${STYLE}</style>
<h1>My sessions</h1>
<p>${sessions.length} sessions; ${totals.sessions} of them with a known price cost ${dollars(totals.spent)}.</p>
<table><thead><tr><th>policy</th><th>sessions</th><th>would have cost</th><th>used again</th><th>of it lost</th></tr></thead>
<tbody>${totals.policies.map((row) => `<tr><td>${escaped(row.name)}</td><td>${row.sessions}</td><td>${dollars(row.cost)}</td><td>${row.used}</td><td>${row.lost}</td></tr>`).join("")}</tbody></table>
<h2>One by one</h2>
<table><thead><tr>${head.map((title) => `<th>${escaped(title)}</th>`).join("")}</tr></thead>
<tbody>${order.map((session) => rowOf(session, names)).join("\n")}</tbody></table>
<h2>What the words mean</h2>
<dl><dt>spent</dt><dd>by the tokens that the provider reported and list prices of ${PRICES_AS_OF}; calls of models without a known price are left out</dd>
<dt>would have cost</dt><dd>the session played again under the policy, at the prices of the model that answered most often, with the provider's cache, summaries and what had to be fetched again</dd>
<dt>as it was</dt><dd>with the compactions that the program itself made</dd>
<dt>used again</dt><dd>paths, names, numbers and error lines last seen more than 20 messages before</dd>
<dt>lost</dt><dd>those that were neither in the prompt nor found by a search over everything said</dd></dl>
${problems.length === 0 ? "" : `<h2>Not read</h2><ul>${problems.map((problem) => `<li>${escaped(problem)}</li>`).join("")}</ul>`}
<p>${escaped(about.command)}, ${about.date.toISOString().slice(0, 16).replace("T", " ")}, ${escaped(about.versions)}</p>
</html>
`;
}

function rowOf({ name, project, model, messages, spent, policies }: OwnSession, names: readonly string[]): string {
  const found = names.map((policy) => policies.find((row) => row.name === policy));
  const cells = [
    String(messages),
    spent === null ? "-" : dollars(spent),
    ...found.map((row) => (row === undefined ? "-" : spent === null ? "-" : dollars(row.cost))),
    String(found.find((row) => row !== undefined)?.used ?? 0),
    ...found.map((row) => (row === undefined ? "-" : String(row.lost))),
  ];
  const about = [project, model].filter((one) => one !== null).join(", ");
  const title = `${escaped(name)}${about === "" ? "" : `<br><small>${escaped(about)}</small>`}`;
  return `<tr><td>${title}</td>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
}

const dollars = (amount: number): string => `$${amount.toFixed(amount >= 0.1 || amount === 0 ? 2 : 4)}`;
