/** The lab's report: the table, knowledge against tokens, cost, the size of the context over time, and the words. */
import { areas, bars, letterOf, PARTS, reportTable, scatter, wordsOf } from "@palimpsest/lab/internal/report";
import { Drawn } from "../../parts/drawing.tsx";
import { counted, grouped, percent } from "../../text/format.ts";
import type { PlayReport } from "./play.ts";
import { verdictOf } from "./verdict.ts";

export function Report({ report }: { readonly report: PlayReport }) {
  const { policies, window, transcripts, problems } = report;
  const messages = transcripts.reduce((sum, one) => sum + one.messages, 0);
  const isKnown = policies.some(({ known }) => known !== null);
  return (
    <div class="lab-report">
      <p class="dim">
        {counted(transcripts.length, "transcript")}, {counted(messages, "message")}, a window of {grouped(window)}{" "}
        tokens.
      </p>
      {problems.map((problem) => (
        <p key={problem} class="problem">
          {problem}
        </p>
      ))}
      <VerdictLine report={report} />
      <div class={`lab-figures ${isKnown ? "" : "beside-chart"}`}>
        <Table report={report} />
        <div class="plots">
          {isKnown && (
            <figure class="card">
              <figcaption>Knowledge against tokens: up and to the left is better</figcaption>
              <Drawn drawing={scatter(policies)} label="Knowledge against tokens, by policy" />
            </figure>
          )}
          <figure class="card">
            <figcaption>Cost, as a share of never pruning</figcaption>
            <Drawn drawing={bars(policies)} label="Cost, by policy" />
          </figure>
        </div>
      </div>
      <div class="row wrap">
        <h2>Size of the context over time</h2>
        <p class="plot-key small push">
          {PARTS.map((part) => (
            <span key={part} class={part}>
              {part}
            </span>
          ))}
        </p>
      </div>
      <div class="plots">
        {policies.map((row, index) => (
          <figure key={row.name} class="card">
            <figcaption>
              <b>{letterOf(index)}</b> {row.name}
            </figcaption>
            <Drawn drawing={areas(row, policies, window)} label={`Tokens of each request with ${row.name}`} />
          </figure>
        ))}
      </div>
      <details class="fold">
        <summary>What the words mean</summary>
        <dl>
          {wordsOf(report as never).map(([word, meaning]) => (
            <div key={word}>
              <dt>{word}</dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      </details>
    </div>
  );
}

function VerdictLine({ report: { policies, window } }: { readonly report: PlayReport }) {
  const verdict = verdictOf(policies);
  if (verdict.kind === "fits")
    return (
      <p class="card">
        It fits a window of {grouped(window)} tokens: {grouped(verdict.idle)} of {grouped(policies.length)} policies had
        nothing to do. A smaller window shows where they differ.
      </p>
    );
  return (
    <dl class="verdict">
      {verdict.figures.map(({ name, policy, value }) => (
        <div key={name} class="card">
          <dt class="dim small">{name}</dt>
          <dd>
            <b class="number">{percent(value)}</b> <span class="dim">{policy}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Table({ report }: { readonly report: PlayReport }) {
  const { titles, lines } = reportTable(report.policies as never);
  const meanings = new Map(wordsOf(report as never));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
    <section class="scroll-x" tabIndex={0} aria-label="Policies side by side">
      <table>
        <thead>
          <tr>
            <th scope="col">policy</th>
            {titles.map((title) => (
              <th key={title} scope="col" title={meanings.get(title)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ letter, name, cells }) => (
            <tr key={name}>
              <th scope="row">
                <b>{letter}</b> {name}
              </th>
              {cells.map(({ title, text, isBest }) => (
                <td key={title} class={isBest ? "best" : ""}>
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
