/** What was talked about in a thread, day by day: each stretch leads to its first message in the window. */
import { useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { type AskAnswer, ask } from "../../api/ask.ts";
import { useThreadChange } from "../../api/threads.ts";
import { Empty } from "../../parts/empty.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { addressOf } from "../../router/place.ts";
import { grouped, visible } from "../../text/format.ts";
import { plainText } from "../../text/markdown-inline.ts";
import { ofThread, Unread } from "../of-thread.tsx";
import { threadName } from "../thread-name.ts";

/** Enough for a thread of some thousand messages; of a longer one the newest stretches. */
const TOKENS = 20_000;

type StretchFacts = AskAnswer<"GET /api/threads/{id}/map">["lines"][number];

export const MapView = ofThread(ThreadMap);

function ThreadMap({ id }: { readonly id: string }) {
  const [text, setText] = useState("");
  const held = useAnswer(`map ${id}`, () =>
    ask("GET /api/threads/{id}/map", { params: { id }, query: { tokens: TOKENS } }),
  );
  const { value, problem, reload } = held;
  useThreadChange(id, reload);
  if (value === null && problem !== null) return <Unread id={id} what="the map" held={held} />;
  const lines = (value?.lines ?? []).filter((line) => isAbout(line, text));
  return (
    <div class="rules-view">
      <header class="row wrap">
        <h1 class="cut" dir="auto">
          {threadName(id)}
        </h1>
        <span class="dim number" role="status">
          {value === null ? "" : countWords(value, lines.length)}
        </span>
        <input
          class="field push"
          type="search"
          aria-label="Filter the map"
          placeholder="Filter the map"
          maxLength={500}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </header>
      {problem !== null && <ProblemNote problem={problem} retry={reload} />}
      {value === null && problem === null && <p class="dim pad">Reading the map…</p>}
      {value !== null && lines.length === 0 && (
        <Empty title={value.lines.length === 0 ? "Nothing was said here yet" : "No part of the map names that"}>
          <p>
            {value.lines.length === 0
              ? "Each subject of the conversation becomes a part of the map."
              : "Subjects, files and outcomes are looked through. A search (/) looks through every message."}
          </p>
        </Empty>
      )}
      {lines.length > 0 && <Stretches id={id} lines={lines} />}
    </div>
  );
}

/** Whether it names every word of the filter. */
function isAbout({ label, files, result }: StretchFacts, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/);
  const named = [label, result, ...files].join(" ").toLowerCase();
  return words.every((word) => named.includes(word));
}

function countWords({ lines, stretches }: AskAnswer<"GET /api/threads/{id}/map">, shown: number): string {
  if (shown < lines.length) return `${grouped(shown)} of ${grouped(stretches)} parts`;
  if (lines.length < stretches) return `the newest ${grouped(lines.length)} of ${grouped(stretches)} parts`;
  return `${grouped(stretches)} ${stretches === 1 ? "part" : "parts"}`;
}

function Stretches({ id, lines }: { readonly id: string; readonly lines: readonly StretchFacts[] }) {
  return (
    <ol class="card map">
      {lines.map((line, index) => {
        const day = line.at.slice(0, 10);
        const isNewDay = day !== lines[index - 1]?.at.slice(0, 10);
        return (
          <li key={line.from}>
            {isNewDay && <h2 class="map-day">{dayWords(day)}</h2>}
            <StretchRow id={id} line={line} />
          </li>
        );
      })}
    </ol>
  );
}

function StretchRow({ id, line }: { readonly id: string; readonly line: StretchFacts }) {
  const { from, to, label, files, result } = line;
  return (
    <div class="stretch">
      <span class="dim small number">{from === to ? `#${from}` : `#${from} to #${to}`}</span>
      <a class="stretch-label" dir="auto" href={addressOf("window", id, { seq: String(from) })}>
        {visible(plainText(label)) || `#${from}`}
      </a>
      <div class="stretch-outcome">
        {result !== "" && (
          <p class="dim" dir="auto">
            <span aria-hidden="true">→ </span>
            {visible(plainText(result))}
          </p>
        )}
        {files.length > 0 && (
          <p class="row wrap">
            {files.slice(0, 8).map((file) => (
              <code key={file} class="pill cut">
                {visible(file)}
              </code>
            ))}
            {files.length > 8 && <span class="dim small">and {grouped(files.length - 8)} more files</span>}
          </p>
        )}
      </div>
    </div>
  );
}

function dayWords(day: string): string {
  const at = new Date(`${day}T12:00:00Z`);
  if (Number.isNaN(at.getTime())) return day;
  return at.toLocaleDateString("en-US", { weekday: "long", month: "long", day: "numeric", year: "numeric" });
}
