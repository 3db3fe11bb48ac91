/** One request of the past: what it cost, what stood in it and why, what changed since the one before, and the way back. */
import { useMemo, useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { ask, type Outcome } from "../../api/ask.ts";
import { useActions } from "../../keyboard/actions.ts";
import { Detail } from "../../parts/detail.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { diff } from "../../text/diff.ts";
import { ago, dollars, grouped, percent, visible } from "../../text/format.ts";
import { fork, told, underWay } from "../window/acts.ts";
import { EntryList, type ShownEntry } from "../window/entry-list.tsx";
import { MessageDetail } from "../window/message-detail.tsx";
import { SummaryDetail } from "../window/summary-detail.tsx";
import { rowsOf, type WindowFacts } from "../window/window-view.tsx";
import { cacheShare } from "./cost.ts";
import type { Timeline } from "./timeline-view.tsx";

interface MomentProps {
  readonly id: string;
  readonly timeline: Timeline;
  readonly index: number;
  readonly isMoving: boolean;
}

export function Moment({ id, timeline: { requests }, index, isMoving }: MomentProps) {
  const request = requests[index]!;
  const before = index === 0 ? null : requests[index - 1]!;
  const [chosen, setChosen] = useState<string | null>(null);
  const at = isMoving ? null : request.seq - 1;
  const now = useAnswer(`window ${id} ${at}`, () => windowAt(id, at));
  const past = isMoving || before === null ? null : before.seq - 1;
  const earlier = useAnswer(`window ${id} ${past}`, () => windowAt(id, past));
  useActions(
    [{ name: `Fork before answer #${request.seq}`, key: "f", run: () => void fork(id, request.seq - 1) }],
    `${id} ${request.seq}`,
  );
  const rows = useMemo(
    () => (now.value === null ? [] : changesOf(earlier.value, now.value)),
    [now.value, earlier.value],
  );
  const row = rows.findIndex(({ key }) => key === chosen);
  return (
    <div class="beside">
      <section class="card flush entries-card" aria-label="The request">
        <h2 class="pad row">
          The request that #{request.seq} answered <span class="push number">{changeWords(rows, before === null)}</span>
        </h2>
        {now.problem !== null ? (
          <ProblemNote problem={now.problem} retry={now.reload} />
        ) : (
          <EntryList
            threadId={id}
            label="Entries of the request"
            entries={rows}
            chosen={row}
            onChoose={(next) => setChosen(rows[next]!.key)}
          />
        )}
      </section>
      <Detail label="This request">
        <dl class="facts">
          <dt>request</dt>
          <dd class="number">
            {grouped(index + 1)} of {grouped(requests.length)}
          </dd>
          <dt>tokens</dt>
          <dd class="number">
            {grouped(request.input)} in{signed(request.input - (before?.input ?? request.input))},{" "}
            {grouped(Number(request["output"] ?? 0))} out
          </dd>
          <dt>from the cache</dt>
          <dd class="number">{percent(cacheShare(request))}</dd>
          <dt>cost</dt>
          <dd class="number">{request.cost === null ? "no price is known" : dollars(request.cost)}</dd>
          <dt>window</dt>
          <dd class="number">{request.window === null ? "not known" : grouped(request.window)}</dd>
          <dt>model</dt>
          <dd>{visible(request.model)}</dd>
          <dt>answered</dt>
          <dd title={request.at}>{ago(request.at, new Date())}</dd>
        </dl>
        <div class="row wrap">
          <button
            type="button"
            class="button hot"
            disabled={underWay.value !== null}
            onClick={() => void fork(id, request.seq - 1)}
          >
            Fork from here
          </button>
        </div>
        {told.value !== null && "problem" in told.value && <ProblemNote problem={told.value.problem} />}
        <Chosen id={id} row={rows[row] ?? null} window={now.value} />
        <Exact key={request.seq} id={id} seq={request.seq} />
      </Detail>
    </div>
  );
}

async function windowAt(id: string, at: number | null): Promise<Outcome<WindowFacts | null>> {
  if (at === null) return { kind: "ok", value: null };
  return ask("GET /api/threads/{id}/window", { params: { id }, query: { at } });
}

/** Entries that left stand where they stood. Without one before, nothing is a change. */
function changesOf(before: WindowFacts | null, now: WindowFacts): readonly ShownEntry[] {
  const rows = rowsOf(now);
  if (before === null) return rows;
  const name = (window: WindowFacts) => (row: ShownEntry) => ({
    row,
    key:
      row.key === "summary"
        ? `summary of ${window.compaction?.seq}`
        : `${row.key} ${row.why.startsWith("shortened") ? row.why : ""}`,
  });
  return diff(rowsOf(before).map(name(before)), rows.map(name(now)), ({ key }) => key).map(({ kind, value }) => ({
    ...value.row,
    key: kind === "gone" ? `gone ${value.row.key}` : value.row.key,
    change: kind,
  }));
}

function changeWords(rows: readonly ShownEntry[], isFirst: boolean): string {
  if (isFirst) return "the first";
  if (rows.every(({ change }) => change === undefined)) return ""; // one of the two isn't here yet
  const count = (change: string) => rows.filter((row) => row.change === change).length;
  return `${count("new")} new, ${count("gone")} gone`;
}

function signed(change: number): string {
  if (change === 0) return "";
  return ` (${change > 0 ? "+" : "−"}${grouped(Math.abs(change))})`;
}

function Chosen({
  id,
  row,
  window,
}: {
  readonly id: string;
  readonly row: ShownEntry | null;
  readonly window: WindowFacts | null;
}) {
  if (row === null)
    return <p class="dim">Choose an entry to read it. Green ones came with this request, struck ones left.</p>;
  if (row.seq !== null) return <MessageDetail key={row.seq} threadId={id} seq={row.seq} />;
  if (row.key === "summary" && window?.compaction != null)
    return <SummaryDetail threadId={id} compaction={window.compaction} tokens={row.tokens} />;
  return null;
}

/** As the provider got it; asked for when somebody wants to see it. */
function Exact({ id, seq }: { readonly id: string; readonly seq: number }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The exact request, as JSON</summary>
      {isOpen && <ExactText id={id} seq={seq} />}
    </details>
  );
}

function ExactText({ id, seq }: { readonly id: string; readonly seq: number }) {
  const { value, problem, reload } = useAnswer(`request ${id} ${seq}`, () =>
    ask("GET /api/threads/{id}/requests/{seq}", { params: { id, seq: String(seq) } }),
  );
  if (problem !== null) return <ProblemNote problem={problem} retry={reload} />;
  if (value === null) return <p class="dim">Reading…</p>;
  return <pre class="exact">{visible(JSON.stringify(value, null, 2).slice(0, 400_000))}</pre>;
}
