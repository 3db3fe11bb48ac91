/** What a search over all threads finds, with the words that made it a hit. */
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { ask } from "../../api/ask.ts";
import { Marked } from "../../parts/marked.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { addressOf } from "../../router/place.ts";
import { coverWords } from "../../text/cover-words.ts";
import { ago, grouped, visible } from "../../text/format.ts";
import { unmarkedWords } from "../../text/search-words.ts";
import { threadName } from "../thread-name.ts";
import { MissingWords, WhyNothing } from "./why-not.tsx";

/** Waits until typing pauses, so that half a word isn't searched. */
const PAUSE_MS = 180;

const MOST_HITS = 100;

const TIMES = [
  ["1", "last day"],
  ["7", "last week"],
  ["31", "last month"],
] as const;

export function Found({ question }: { readonly question: string }) {
  const [asked, setAsked] = useState(question);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(question), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [question]);
  const [only, setOnly] = useState({ thread: "", speaker: "", days: "" });
  const { value, problem, reload } = useAnswer(`search ${asked}`, () =>
    ask("GET /api/search", { query: { q: asked, limit: MOST_HITS } }),
  );
  if (problem !== null) return <ProblemNote problem={problem} retry={reload} />;
  if (value === null)
    return (
      <p class="dim pad" role="status">
        Searching…
      </p>
    );
  const cover = coverWords(value);
  if (value.hits.length === 0) return <WhyNothing question={asked} reason={value.reason} cover={cover} />;
  const hits = value.hits.filter(
    ({ thread = "", speaker, at }) =>
      (only.thread === "" || only.thread === thread) &&
      (only.speaker === "" || only.speaker === speaker) &&
      (only.days === "" || Date.now() - Date.parse(at) < Number(only.days) * 86_400_000),
  );
  const [whole, partial] = [true, false].map((isWhole) =>
    hits.filter((hit) => (unmarkedWords(asked, [hit]).length === 0) === isWhole),
  ) as [typeof hits, typeof hits];
  const threadIds = [...new Set(value.hits.map(({ thread = "" }) => thread))];
  return (
    <ul class="found fill" aria-label="Hits">
      <li class="row wrap">
        <span class="dim number" role="status">
          {hits.length === value.hits.length
            ? `${grouped(hits.length)}${hits.length === MOST_HITS ? " best" : ""} ${hits.length === 1 ? "hit" : "hits"}`
            : `${grouped(hits.length)} of ${grouped(value.hits.length)} hits`}{" "}
          in {grouped(threadIds.length)} {threadIds.length === 1 ? "thread" : "threads"}
        </span>
        <span class="row wrap push">
          <Choice
            label="Thread"
            value={only.thread}
            options={threadIds.map((id) => [id, threadName(id)])}
            onChoose={(thread) => setOnly({ ...only, thread })}
          />
          <Choice
            label="Speaker"
            value={only.speaker}
            options={[...new Set(value.hits.map(({ speaker }) => speaker))].map((one) => [one, visible(one)])}
            onChoose={(speaker) => setOnly({ ...only, speaker })}
          />
          <Choice label="Time" value={only.days} options={TIMES} onChoose={(days) => setOnly({ ...only, days })} />
        </span>
      </li>
      {cover !== null && <li class="dim small">{cover}</li>}
      <li>
        <MissingWords question={asked} hits={value.hits} />
      </li>
      {[...whole, ...partial].map(({ thread = "", seq, at, speaker, snippet, marks }, index) => (
        <li key={`${thread}#${seq}`}>
          {index > 0 && index === whole.length && <p class="dim small pad">With only some of the words:</p>}
          <a class="card hit" href={addressOf("window", thread, { seq: String(seq) })}>
            <span class="row dim small">
              <span class="cut">{threadName(thread)}</span>
              <span class="mono">#{seq}</span>
              <span>{speaker}</span>
              <span class="push">{ago(at, new Date())}</span>
            </span>
            <span class="words" dir="auto">
              <Marked text={snippet} marks={marks as readonly (readonly [number, number])[]} />
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}

interface ChoiceProps {
  readonly label: string;
  /** Empty: all of them. */
  readonly value: string;
  readonly options: readonly (readonly [value: string, words: string])[];
  readonly onChoose: (value: string) => void;
}

function Choice({ label, value, options, onChoose }: ChoiceProps) {
  return (
    <select class="field" aria-label={label} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
      <option value="">{`Any ${label.toLowerCase()}`}</option>
      {options.map(([key, words]) => (
        <option key={key} value={key}>
          {words}
        </option>
      ))}
    </select>
  );
}
