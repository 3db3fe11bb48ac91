/** One request of the past: what it cost, what stood in it and why, what changed since the one before, and the way back. */
import { useMemo, useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { type ApiOutcome, ask, notAsked } from "../../api/ask.ts";
import { useActions } from "../../keyboard/actions.ts";
import { CopyLink } from "../../parts/copy-link.tsx";
import { Detail } from "../../parts/detail.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { WindowBar } from "../../parts/window-bar.tsx";
import { place } from "../../router/navigate.ts";
import { addressOf } from "../../router/place.ts";
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
  /** The request it is compared with; null: the one before. */
  readonly other: number | null;
  readonly isMoving: boolean;
}

type RequestOf = Timeline["requests"][number];

export function Moment({ id, timeline, index, other, isMoving }: MomentProps) {
  const { requests } = timeline;
  const isCompared = other !== null && other !== index;
  const request = requests[isCompared ? Math.max(index, other) : index];
  const before = (isCompared ? requests[Math.min(index, other)] : requests[index - 1]) ?? null;
  const [chosen, setChosen] = useState<string | null>(null);
  const at = isMoving || request === undefined ? null : request.seq - 1;
  const now = useAnswer(`window ${id} ${at}`, () => windowAt(id, at));
  const past = isMoving || before === null ? null : before.seq - 1;
  const earlier = useAnswer(`window ${id} ${past}`, () => windowAt(id, past));
  useActions(
    request === undefined
      ? []
      : [{ name: `Fork before answer #${request.seq}`, key: "f", run: () => void fork(id, request.seq - 1) }],
    `${id} ${request?.seq}`,
  );
  const rows = useMemo(
    () => (now.value === null ? [] : changesOf(earlier.value, now.value)),
    [now.value, earlier.value],
  );
  const row = rows.findIndex(({ key }) => key === chosen);
  if (request === undefined) return null;
  return (
    <div class="beside">
      <section class="card flush entries-card" aria-label="The request">
        <h2 class="pad row">
          {isCompared ? `From #${before?.seq} to #${request.seq}` : `The request that #${request.seq} answered`}{" "}
          <span class="push number">{changeWords(rows, before === null)}</span>
        </h2>
        {now.problem !== null ? (
          <ProblemNote problem={now.problem} retry={now.reload} />
        ) : (
          <EntryList
            threadId={id}
            label="Entries of the request"
            entries={rows}
            chosen={row}
            onChoose={(next) => setChosen(rows[next]?.key ?? null)}
          />
        )}
      </section>
      <Detail label={isCompared ? "The two requests" : "This request"}>
        {isCompared && before !== null ? (
          <Compared before={before} request={request} timeline={timeline} />
        ) : (
          <RequestFigures request={request} before={before} index={index} count={requests.length} />
        )}
        {now.value !== null && (
          <div class="stack">
            {isCompared && earlier.value !== null && (
              <div class="row">
                <span class="dim mono at">#{before?.seq}</span>
                <WindowBar context={inItsWindow(earlier.value, before)} size="small" label={`At #${before?.seq}`} />
              </div>
            )}
            <div class="row">
              {isCompared && <span class="dim mono at">#{request.seq}</span>}
              <WindowBar context={inItsWindow(now.value, request)} size="small" label={`At #${request.seq}`} />
            </div>
          </div>
        )}
        <div class="row wrap">
          <button
            type="button"
            class="button hot"
            disabled={underWay.value !== null}
            onClick={() => void fork(id, request.seq - 1)}
          >
            Fork from here
          </button>
          <a class="button open" href={addressOf("window", id, { at: String(request.seq - 1) })}>
            Open this window
          </a>
          <CopyLink address={addressOf("timeline", id, { ...place.value.query, at: String(requests[index]?.seq) })}>
            Copy link
          </CopyLink>
        </div>
        {told.value !== null && "problem" in told.value && <ProblemNote problem={told.value.problem} />}
        <Chosen id={id} row={rows[row] ?? null} window={now.value} />
        <Exact key={request.seq} id={id} seq={request.seq} />
      </Detail>
    </div>
  );
}

interface RequestFiguresProps {
  readonly request: RequestOf;
  readonly before: RequestOf | null;
  readonly index: number;
  readonly count: number;
}

function RequestFigures({ request, before, index, count }: RequestFiguresProps) {
  return (
    <dl class="facts">
      <dt>request</dt>
      <dd class="number">
        {grouped(index + 1)} of {grouped(count)}
      </dd>
      <dt>tokens</dt>
      <dd class="number">
        {grouped(request.input)} in{inBrackets(request.input - (before?.input ?? request.input))},{" "}
        {grouped(Number(request["output"] ?? 0))} out
      </dd>
      <dt>from the cache</dt>
      <dd class="number">{percent(cacheShare(request))}</dd>
      <dt>cost</dt>
      <dd class="number">{costWords(request)}</dd>
      <dt>window</dt>
      <dd class="number">{windowWords(request)}</dd>
      <dt>model</dt>
      <dd>{visible(request.model)}</dd>
      <dt>answered</dt>
      <dd title={request.at}>{ago(request.at, new Date())}</dd>
    </dl>
  );
}

interface ComparedProps {
  readonly before: RequestOf;
  readonly request: RequestOf;
  readonly timeline: Timeline;
}

/** Two requests side by side, and what lies between them. */
function Compared({ before, request, timeline: { requests, marks } }: ComparedProps) {
  const later = requests.filter(({ seq }) => seq > before.seq && seq <= request.seq);
  const spent = later.reduce((sum, { cost }) => sum + (cost ?? 0), 0);
  const cuts = marks.filter(({ kind, seq }) => kind === "compaction" && seq > before.seq && seq <= request.seq);
  const now = new Date();
  const rows = [
    ["tokens", grouped(before.input), `${grouped(request.input)}${inBrackets(request.input - before.input)}`],
    ["from the cache", percent(cacheShare(before)), percent(cacheShare(request))],
    ["cost", costWords(before), costWords(request)],
    ["window", windowWords(before), windowWords(request)],
    ["model", visible(before.model), visible(request.model)],
    ["answered", ago(before.at, now), ago(request.at, now)],
  ] as const;
  return (
    <div class="stack">
      <table class="compared number">
        <thead>
          <tr>
            <td />
            <th scope="col">#{before.seq}</th>
            <th scope="col">#{request.seq}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, one, two]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{one}</td>
              <td>{two}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="dim number">
        Between them: {grouped(later.length)} {later.length === 1 ? "request" : "requests"}, {grouped(cuts.length)}{" "}
        {cuts.length === 1 ? "compaction" : "compactions"}
        {spent > 0 && `, ${dollars(spent)}`}.
      </p>
    </div>
  );
}

function costWords({ cost }: RequestOf): string {
  return cost === null ? "no price is known" : dollars(cost);
}

function windowWords({ window }: RequestOf): string {
  return window === null ? "not known" : grouped(window);
}

/** In the window of the model that answered, where it is known. */
function inItsWindow(facts: WindowFacts, request: RequestOf | null): WindowFacts {
  return { ...facts, window: request?.window ?? facts.window };
}

function windowAt(id: string, at: number | null): Promise<ApiOutcome<WindowFacts | null>> {
  return at === null ? notAsked() : ask("GET /api/threads/{id}/window", { params: { id }, query: { at } });
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

function inBrackets(change: number): string {
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

/** As the provider got it; fetched when it is opened. */
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
  if (problem?.code === "no-request")
    return (
      <p class="dim">There is none: this answer was imported, or came without a record of what was sent for it.</p>
    );
  if (problem !== null) return <ProblemNote problem={problem} retry={reload} />;
  if (value === null) return <p class="dim">Reading…</p>;
  const changed = [...value.redacted, ...value.rewritten];
  return (
    <>
      {changed.length > 0 && (
        <p class="dim">
          Not word for word what was sent: a redaction has changed {changed.map((one) => `#${one}`).join(", ")} since.
        </p>
      )}
      <pre class="exact">{visible(JSON.stringify(value, null, 2).slice(0, 400_000))}</pre>
    </>
  );
}
