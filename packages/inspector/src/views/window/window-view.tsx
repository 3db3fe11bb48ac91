/** What fills a thread's window and why, what the last compaction changed, and how to take it back. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { type AskAnswer, ask, notAsked } from "../../api/ask.ts";
import { isEveryThread, threads, useThreadChange } from "../../api/threads.ts";
import { useActions } from "../../keyboard/actions.ts";
import { fullnessWords } from "../../parts/bar.ts";
import { CopyLink } from "../../parts/copy-link.tsx";
import { Detail } from "../../parts/detail.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { nameOf } from "../../parts/tree.ts";
import { WindowBar } from "../../parts/window-bar.tsx";
import { place, select } from "../../router/navigate.ts";
import { addressOf } from "../../router/place.ts";
import { compactionWords } from "../../text/compaction-words.ts";
import { ago, grouped, line, visible } from "../../text/format.ts";
import { ofThread, Unread } from "../of-thread.tsx";
import { closePreview, compact, planned, preview, redo, told, underWay, undo } from "./acts.ts";
import { CompactDialog } from "./compact-dialog.tsx";
import { CutBar } from "./cut-bar.tsx";
import { targetOf } from "./cut-target.ts";
import { draggedTarget } from "./cuts.ts";
import { EntryDetail } from "./entry-detail.tsx";
import { EntryList, type ShownEntry, showDetail, shownEntry } from "./entry-list.tsx";
import { type Planned, Preview } from "./preview.tsx";
import { TrySize } from "./try-size.tsx";

export type WindowFacts = AskAnswer<"GET /api/threads/{id}/window">;

export const WindowView = ofThread(ThreadWindow);

function ThreadWindow({ id }: { readonly id: string }) {
  const { at: wanted } = place.value.query;
  const at = wanted !== undefined && /^\d{1,15}$/.test(wanted) ? Number(wanted) : null;
  const query = at === null ? {} : { at };
  const held = useAnswer(`window ${id} ${at}`, () => ask("GET /api/threads/{id}/window", { params: { id }, query }));
  useThreadChange(id, held.reload);
  useEffect(() => {
    if (underWay.value === null && told.value !== null) held.reload();
  }, [underWay.value]);
  useEffect(() => {
    closePreview();
  }, []);
  const { value: window, problem, reload } = held;
  if (window === null) return <Unread id={id} what="the window" held={held} />;
  const isGone = isEveryThread.value && !threads.value.has(id);
  return (
    <div class="window-view">
      {at === null ? <Head id={id} window={window} /> : <PastHead id={id} window={window} />}
      {isGone && (
        <p class="problem" role="alert">
          This thread was deleted elsewhere. What you see is the last that was known of it.
        </p>
      )}
      {problem !== null && <ProblemNote problem={problem} retry={reload} />}
      <Bars id={id} window={window} isPast={at !== null} />
      <Request id={id} window={window} isPast={at !== null} />
    </div>
  );
}

function Head({ id, window }: { readonly id: string; readonly window: WindowFacts }) {
  const [isAsking, setAsking] = useState(false);
  const { title, total, window: size, source, undo: newest, redo: last } = window;
  useActions(
    [
      { name: "Preview a compaction", key: "p", run: () => void preview(id) },
      { name: "Compact…", key: "c", run: () => setAsking(true) },
      ...(newest === null ? [] : [{ name: `Undo #${newest}`, key: "u", run: () => void undo(id) }]),
      ...(last === null ? [] : [{ name: "Redo", key: "r", run: () => void redo(id) }]),
    ],
    `${id} ${newest} ${last}`,
  );
  const isBusy = underWay.value !== null;
  return (
    <header class="stack">
      <div class="row wrap">
        <h1 class="cut" dir="auto">
          {visible(nameOf({ id, title }))}
        </h1>
        <span class={`number cut ${total > size ? "bad" : "dim"}`}>
          {grouped(total)} of {grouped(size)} tokens · {fullnessWords(total, size)} ·{" "}
          <span title={SOURCES[source]?.[1]}>{SOURCES[source]?.[0]}</span>
        </span>
        <div class="row push acts">
          <button type="button" class="button" disabled={isBusy} onClick={() => void preview(id)}>
            Preview
          </button>
          <button type="button" class="button" disabled={isBusy} onClick={() => setAsking(true)}>
            Compact…
          </button>
          {last !== null && (
            <button type="button" class="button hot" disabled={isBusy} onClick={() => void redo(id)}>
              Redo
            </button>
          )}
          <button
            type="button"
            class={`button ${newest === null ? "" : "hot"}`}
            disabled={isBusy || newest === null}
            onClick={() => void undo(id)}
          >
            {newest === null ? "Nothing to undo" : `Undo #${newest}`}
          </button>
        </div>
      </div>
      <div role="status">
        {isBusy && <span class="dim">Working…</span>}
        {told.value !== null && "words" in told.value && told.value.words !== "" && <span>{told.value.words}</span>}
      </div>
      {told.value !== null && "problem" in told.value && <ProblemNote problem={told.value.problem} />}
      {isAsking && (
        <CompactDialog
          onClose={() => setAsking(false)}
          onCompact={(focus) => {
            setAsking(false);
            void compact(id, focus);
          }}
        />
      )}
    </header>
  );
}

/** Where the count comes from: in a word, and in a sentence. */
const SOURCES: Readonly<Record<string, readonly [string, string]>> = {
  reported: ["counted", "Reported: the provider counted exactly this prompt"],
  anchored: ["partly estimated", "Anchored: the provider's last count, and an estimate of what came since"],
  adjusted: ["partly estimated", "Adjusted: the provider's last count, less what was hidden since, plus an estimate"],
  estimated: ["estimated", "No provider has counted this thread yet"],
};

/** A window of the past is looked at; what can be done is done to the thread as it stands now. */
function PastHead({ id, window }: { readonly id: string; readonly window: WindowFacts }) {
  const { title, total, window: size, at } = window;
  return (
    <header class="row wrap">
      <h1 class="cut" dir="auto">
        {visible(nameOf({ id, title }))}
      </h1>
      <span class="pill hot">as it was at #{at}</span>
      <span class="dim number cut">
        {grouped(total)} of {grouped(size)} tokens · {fullnessWords(total, size)}
      </span>
      <div class="row push acts">
        <CopyLink address={addressOf("window", id, place.value.query)}>Copy link</CopyLink>
        <a class="button open" href={addressOf("timeline", id, { at: String(at) })}>
          On the timeline
        </a>
        <a class="button hot open" href={addressOf("window", id)}>
          Back to now
        </a>
      </div>
    </header>
  );
}

/** What to do about it is one button. */
function OverFull({ id, window }: { readonly id: string; readonly window: WindowFacts }) {
  return (
    <div class="problem row wrap">
      <span>
        <strong class="number">{grouped(window.total - window.window)} tokens do not fit.</strong> The next request is
        compacted first, or now:
      </span>
      <button
        type="button"
        class="button hot push"
        disabled={underWay.value !== null}
        onClick={() => void compact(id, "")}
      >
        Compact now
      </button>
    </div>
  );
}

interface PastProps {
  readonly id: string;
  readonly window: WindowFacts;
  /** It is the window of an earlier record: nothing can be done to it. */
  readonly isPast: boolean;
}

function Bars({ id, window, isPast }: PastProps) {
  const { compaction } = window;
  const at = compaction === null ? null : compaction.seq - 1;
  const folds = window.entries.flatMap(({ folded }) => (folded ? `#${folded[0]} to #${folded.at(-1)}` : []));
  const before = useAnswer<WindowFacts | null>(`window ${id} ${at}`, () =>
    at === null ? notAsked() : ask("GET /api/threads/{id}/window", { params: { id }, query: { at } }),
  );
  return (
    <section class="card stack" aria-label="What fills the window">
      <div class="row wrap">
        <strong>{isPast ? `At #${window.at}` : "Now"}</strong>
        <span class="dim number">
          {grouped(window.messages)} messages
          {compaction !== null && `, up to #${compaction.hiddenThrough} behind one summary`}
          {folds.length > 0 && `, ${folds.length > 2 ? `${folds.length} ranges` : folds.join(" and ")} folded`}
        </span>
      </div>
      <WindowBar context={window} size="large" label={isPast ? `At #${window.at}` : "Now"} />
      {!isPast && <TrySize id={id} window={window} />}
      {!isPast && window.total > window.window && <OverFull id={id} window={window} />}
      {compaction !== null && (
        <>
          <div class="row wrap dim">
            <span class="number">
              Before compaction #{compaction.seq}: {grouped(compaction.tokensBefore)} tokens, after it{" "}
              {grouped(compaction.tokensAfter)} · {ago(compaction.at, new Date())}.{" "}
              {compactionWords(compaction.rung, compaction.reason)}.
            </span>
          </div>
          {before.value == null ? (
            <div class="window-bar small" aria-hidden="true" />
          ) : (
            <WindowBar context={before.value} size="small" label="Before" />
          )}
        </>
      )}
    </section>
  );
}

function Request({ id, window, isPast }: PastProps) {
  const plan = isPast ? null : planned.value;
  useEffect(() => {
    if (plan !== null) showDetail();
  }, [plan]);
  const rows = useMemo(() => rowsOf(window), [window]);
  const entries = plan === null ? rows : withPlan(rows, plan);
  const { seq: wanted, from, ...rest } = place.value.query;
  const found = entries.findIndex(({ key }) => key === wanted);
  const first = entries.findIndex(({ key }) => key === from);
  const anchor = first === -1 || found === -1 ? null : first;
  const targetFrom = (row: number) => {
    const through = window.compaction?.hiddenThrough ?? 0;
    const [one, two] = [Math.min(anchor ?? found, found), Math.max(anchor ?? found, found)];
    return targetOf(
      row >= one && row <= two ? entries.slice(one, two + 1) : entries.slice(row, row + 1),
      window.pins,
      through,
    );
  };
  const keyAt = (row: number) => entries[row]?.key ?? "";
  const absent = found === -1 && /^[1-9]\d{0,14}$/.test(wanted ?? "") ? Number(wanted) : null;
  return (
    <div class="beside">
      <section class="card flush entries-card" aria-label="The request">
        <h2 class="pad">
          The request, entry by entry{window.repairs > 0 && ` · ${window.repairs} repaired for the provider`}
        </h2>
        {entries.length === 0 ? (
          <Empty title="Nothing was said yet">
            <p>
              Say something in the{" "}
              <a class="link" href={addressOf("chat", id)}>
                chat
              </a>
              : this is where you see what the model gets.
            </p>
          </Empty>
        ) : (
          <EntryList
            threadId={id}
            label="Entries of the request"
            entries={entries}
            chosen={found}
            onChoose={(row) => select({ ...rest, seq: keyAt(row) })}
            picking={
              isPast
                ? undefined
                : {
                    anchor,
                    onRange: (start, row) => select({ ...rest, from: keyAt(start), seq: keyAt(row) }),
                    onDrag: (row) => {
                      draggedTarget.value = row === null ? null : targetFrom(row);
                    },
                  }
            }
          />
        )}
        {!isPast && plan === null && entries.length > 0 && (
          <CutBar id={id} target={found === -1 ? null : targetFrom(found)} />
        )}
      </section>
      <Detail label="What is chosen">
        {plan !== null ? (
          <Preview
            planned={plan}
            summary={window.compaction?.text ?? ""}
            hiddenNow={window.compaction?.hiddenThrough ?? 0}
            onCompact={() => void compact(id, "")}
            onClose={closePreview}
          />
        ) : (
          <EntryDetail id={id} window={window} entry={entries[found] ?? null} absent={absent} isPast={isPast} />
        )}
      </Detail>
    </div>
  );
}

/** What a compaction that is looked at would hide. */
function withPlan(rows: readonly ShownEntry[], plan: Planned): readonly ShownEntry[] {
  const [, last = 0] = (plan.hidden ?? []) as readonly number[];
  const standing = new Set((plan.standing ?? []) as readonly number[]);
  return rows.map((row) =>
    row.seq !== null && row.seq <= last && !standing.has(row.seq) ? { ...row, change: "gone" } : row,
  );
}

/** What is sent beside the messages stands first, as two entries of their own. */
export function rowsOf(window: WindowFacts): readonly ShownEntry[] {
  const { parts, entries, compaction } = window;
  const fixed = FIXED.map(({ key, names, ...rest }) => ({
    ...rest,
    key,
    seq: null,
    tokens: names.reduce((sum, name) => sum + (parts[name] ?? 0), 0),
    why: "sent with every request",
    tone: "plain" as const,
  })).filter(({ tokens }) => tokens > 0);
  const summary = line(compaction?.text ?? "");
  const shown = entries.map((entry) => shownEntry(entry, compaction?.hiddenThrough ?? 0, summary));
  return [...fixed, ...shown];
}

const FIXED = [
  {
    key: "prompt",
    part: "system",
    name: "system",
    text: "System prompt, memory, skills",
    names: ["base", "memory", "skills", "instructions", "unseen"],
  },
  { key: "tools", part: "definitions", name: "tools", text: "Definitions of the tools", names: ["definitions"] },
] as const;
