/** Transcripts of one's own under several policies, side by side: the same table and plots as the lab's page. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { type ApiOutcome, ask } from "../../api/ask.ts";
import { useActions } from "../../keyboard/actions.ts";
import { Empty } from "../../parts/empty.tsx";
import { contentOf } from "../../parts/file-content.ts";
import { chooseFiles, useFileDrop } from "../../parts/file-drop.ts";
import { ProblemNote } from "../../parts/problem.tsx";
import { place } from "../../router/navigate.ts";
import { line, percent } from "../../text/format.ts";
import { threadName } from "../thread-name.ts";
import { exampleSession } from "../threads/example.ts";
import { type PlayReport, playLab } from "./play.ts";
import { Report } from "./report.tsx";

interface Play {
  readonly id: number;
  readonly name: string;
  /** What is played; null: a file. */
  readonly thread: string | null;
  readonly done: number;
  readonly policy: string;
  readonly outcome: ApiOutcome<PlayReport> | null;
  readonly stop: () => void;
}

const WINDOWS = [8_000, 32_000, 128_000, 200_000, 1_000_000];

export function LabView() {
  const [plays, setPlays] = useState<readonly Play[]>([]);
  const [shown, setShown] = useState<number | null>(null);
  const [window, setWindow] = useState(32_000);
  const threads = useAnswer("lab threads", () => ask("GET /api/threads", { query: { limit: 50, kind: "main" } }));
  const next = useRef(1);
  const change = (id: number, change: Partial<Play>) =>
    setPlays((all) => all.map((one) => (one.id === id ? { ...one, ...change } : one)));
  const play = async (name: string, file: string | Blob, threadId: string | null, size = window) => {
    const id = next.current++;
    const leaving = new AbortController();
    const begun = { id, name, thread: threadId, stop: () => leaving.abort() };
    setPlays((all) => [{ ...begun, done: 0, policy: "", outcome: null }, ...all]);
    setShown(id);
    const onProgress = (done: number, policy: string) => change(id, { done, policy });
    change(id, {
      outcome: await playLab({ file, thread: threadId, window: size }, { signal: leaving.signal, onProgress }),
    });
  };
  const drop = async (files: FileList | null | undefined) => {
    for (const file of [...(files ?? [])]) void play(file.name, await contentOf(file), null);
  };
  const example = () => {
    setWindow(WINDOWS[0]!);
    return play("example", exampleSession(new Date()), null, WINDOWS[0]);
  };
  const { isOver, listeners } = useFileDrop(drop);
  useActions([{ name: "Choose transcripts to play", key: "o", run: () => chooseFiles(drop) }], "lab");
  // A link may name the thread.
  useEffect(() => {
    const { thread } = place.value.query;
    if (thread !== undefined) void play(thread, "", thread);
  }, []);
  const current = plays.find(({ id }) => id === shown) ?? null;
  return (
    <section class={`lab ${isOver ? "is-over" : ""}`} aria-labelledby="lab-title" {...listeners}>
      <header class="row wrap">
        <h1 id="lab-title">Lab</h1>
        <span class="dim">one transcript, several policies, no model</span>
      </header>
      {/* biome-ignore lint/a11y/useSemanticElements: a toolbar has no element of its own */}
      <div class="card row wrap lab-setup" role="group" aria-label="What to play">
        <label class="row">
          <span class="dim small">Window</span>
          <select
            class="field"
            value={window}
            onChange={(event) => setWindow(Number(event.currentTarget.value))}
            aria-label="The model's window"
          >
            {WINDOWS.map((size) => (
              <option key={size} value={size}>
                {size.toLocaleString("en-US")} tokens
              </option>
            ))}
          </select>
        </label>
        <span class="dim small wide">Play</span>
        <select
          class="field thread-choice"
          aria-label="Play a thread"
          value=""
          onChange={(event) => {
            const id = event.currentTarget.value;
            if (id !== "") void play(id, "", id);
            event.currentTarget.value = "";
          }}
        >
          <option value="">Play a thread…</option>
          {(threads.value?.threads ?? []).map(({ id, title }) => (
            <option key={id} value={id}>
              {line(title ?? id, 60)}
            </option>
          ))}
        </select>
        <span class="dim small wide">or</span>
        <button type="button" class="button hot" onClick={() => chooseFiles(drop)}>
          Play files…
        </button>
        <span class="dim small wide">or drop them here</span>
      </div>
      {plays.length === 0 && <Nothing onExample={() => void example()} />}
      {plays.length > 0 && (
        <ul class="row wrap" aria-label="Plays">
          {plays.map(({ id, name, thread, outcome }) => (
            <li key={id}>
              <button type="button" class="chip" aria-pressed={id === shown} onClick={() => setShown(id)}>
                {line(thread === null ? name : threadName(thread), 40)}
                {outcome === null ? " …" : outcome.kind === "failed" ? " ✕" : ""}
              </button>
            </li>
          ))}
        </ul>
      )}
      {current !== null && <Current play={current} />}
    </section>
  );
}

function Current({ play }: { readonly play: Play }) {
  const { outcome, done, policy, name, stop } = play;
  if (outcome === null)
    return (
      <div class="card row wrap" role="status">
        <progress class="grow" max="1" value={done} aria-label={`Playing ${name}`} />
        <span class="dim number">
          {percent(done)} {policy}
        </span>
        <button type="button" class="button" onClick={stop}>
          Stop
        </button>
      </div>
    );
  return outcome.kind === "failed" ? <ProblemNote problem={outcome.problem} /> : <Report report={outcome.value} />;
}

function Nothing({ onExample }: { readonly onExample: () => void }) {
  return (
    <Empty title="What would each policy have done?">
      <p>
        Ten policies replay a conversation request by request: ours, simple ones, and those that other frameworks
        document. Files: JSON lines of messages, another tool's export, or a zip archive.
      </p>
      <ul class="ways">
        <li class="card">
          <h2>What it costs</h2>
          <p>All requests with the provider's prompt cache, compared with never pruning.</p>
        </li>
        <li class="card">
          <h2>What the agent still knows</h2>
          <p>How many names from long before, used again later, were still in the prompt.</p>
        </li>
        <li class="card">
          <h2>How full the window gets</h2>
          <p>Every request of every policy as a curve: when it was cut, and whether it went over.</p>
        </li>
        <li class="card">
          <h2>Try it</h2>
          <p>A short conversation that is already there, in the smallest window.</p>
          <button type="button" class="button" onClick={onExample}>
            Play an example
          </button>
        </li>
      </ul>
    </Empty>
  );
}
