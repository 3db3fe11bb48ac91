/** What is chosen in the window, whole, with what can be done to it. */
import { useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { ask } from "../../api/ask.ts";
import { linesOf } from "../../api/lines.ts";
import { useActions } from "../../keyboard/actions.ts";
import { CopyLink } from "../../parts/copy-link.tsx";
import { Question } from "../../parts/dialog.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { addressOf } from "../../router/place.ts";
import { grouped, visible } from "../../text/format.ts";
import { ERASED, isErased, whyOf } from "../../text/why.ts";
import { fork, pin, redact, underWay } from "./acts.ts";
import type { ShownEntry } from "./entry-list.tsx";
import { MessageDetail } from "./message-detail.tsx";
import { Originals } from "./originals.tsx";
import { SummaryDetail } from "./summary-detail.tsx";
import type { WindowFacts } from "./window-view.tsx";

interface EntryDetailProps {
  readonly id: string;
  readonly window: WindowFacts;
  readonly entry: ShownEntry | null;
  /** A record that was asked for and isn't among the entries. */
  readonly absent: number | null;
  readonly isPast: boolean;
}

export function EntryDetail({ id, window, entry, absent, isPast }: EntryDetailProps) {
  const { compaction } = window;
  if (entry === null && absent !== null) return <AbsentDetail id={id} seq={absent} window={window} isPast={isPast} />;
  if (entry === null && compaction !== null) {
    const tokens = window.entries.find(({ source }) => source === "summary")?.tokens ?? 0;
    return <SummaryDetail threadId={id} compaction={compaction} tokens={tokens} />;
  }
  if (entry === null)
    return (
      <p class="dim">
        Choose an entry to read it and see why it is there.{" "}
        {window.redo === null ? "Nothing was compacted here yet." : "The last compaction is undone; redo restores it."}
      </p>
    );
  if (entry.key === "summary" && compaction !== null)
    return <SummaryDetail threadId={id} compaction={compaction} tokens={entry.tokens} />;
  if (entry.folded !== undefined) {
    const [from = 1, through = from] = entry.folded;
    return <Originals key={from} threadId={id} from={from} through={through} />;
  }
  if (entry.key === "rules")
    return (
      <p class="dim">
        The rules in force, word for word; no compaction drops them. They are kept under{" "}
        <a class="link" href={addressOf("rules", id)}>
          rules
        </a>
        .
      </p>
    );
  if (entry.seq === null) return <FixedDetail id={id} window={window} entry={entry} />;
  const facts = window.entries.find(({ seq }) => seq === entry.seq);
  if (facts === undefined) return null;
  const isGone = isErased(linesOf(id).get(entry.seq)?.parts ?? []);
  return (
    <div class="stack">
      <p class="dim">
        {isGone ? ERASED : whyOf(facts, compaction?.hiddenThrough ?? 0).sentence}{" "}
        <span class="number">{grouped(entry.tokens)} tokens</span>
        {facts.evidence !== undefined && <>, {grouped(facts.evidence)} of them what memory and recall added</>}.
      </p>
      {!isPast && <MessageActs id={id} seq={entry.seq} isGone={isGone} />}
      <MessageDetail key={entry.seq} threadId={id} seq={entry.seq} />
      {facts.evidence !== undefined && <Evidence id={id} of={entry.seq} />}
    </div>
  );
}

interface AbsentProps {
  readonly id: string;
  readonly seq: number;
  readonly window: WindowFacts;
  readonly isPast: boolean;
}

/** What hides a message, or that there is none. */
function AbsentDetail({ id, seq, window: { compaction, entries, pins }, isPast }: AbsentProps) {
  const isFolded = entries.some(({ folded: [from = 0, until = from] = [] }) => seq >= from && seq <= until);
  const why = isFolded
    ? ": a fold hides it"
    : compaction !== null && seq <= compaction.hiddenThrough
      ? `: compaction #${compaction.seq} hides it behind the summary`
      : "";
  return (
    <div class="stack">
      <MessageDetail
        key={seq}
        threadId={id}
        seq={seq}
        head={({ parts }) => (
          <>
            <p class="dim">
              #{seq} is not in the window{why}. {isErased(parts) ? ERASED : "The log has it word for word."}
            </p>
            {!isPast && <MessageActs id={id} seq={seq} isGone={isErased(parts)} isPinned={pins.includes(seq)} />}
          </>
        )}
      />
    </div>
  );
}

interface MessageActsProps {
  readonly id: string;
  readonly seq: number;
  /** Its words are redacted. */
  readonly isGone: boolean;
  /** Absent: it is pinned in the bar below the list. */
  readonly isPinned?: boolean;
}

function MessageActs({ id, seq, isGone, isPinned }: MessageActsProps) {
  const [question, setQuestion] = useState<"redact" | null>(null);
  const [isAround, setAround] = useState(false);
  const isBusy = underWay.value !== null;
  const pinName = isPinned ? "Unpin" : "Pin";
  const turnPin = () => void pin(id, seq, !isPinned);
  useActions(
    [
      ...(isPinned === undefined ? [] : [{ name: `${pinName} #${seq}`, key: "i", run: turnPin }]),
      { name: `Fork at #${seq}`, key: "f", run: () => void fork(id, seq) },
      ...(isGone ? [] : [{ name: `Redact #${seq}…`, run: () => setQuestion("redact") }]),
    ],
    `${id} ${seq} ${isPinned} ${isGone}`,
  );
  if (isAround)
    return <Originals threadId={id} from={Math.max(1, seq - 6)} through={seq + 6} onClose={() => setAround(false)} />;
  return (
    <div class="row wrap">
      {isPinned !== undefined && (
        <button type="button" class="button" disabled={isBusy} onClick={turnPin}>
          {pinName}
        </button>
      )}
      <button type="button" class="button" disabled={isBusy} onClick={() => void fork(id, seq)}>
        Fork here
      </button>
      <CopyLink address={addressOf("window", id, { seq: String(seq) })}>Copy link</CopyLink>
      <button type="button" class="button" onClick={() => setAround(true)}>
        Read around it
      </button>
      {!isGone && (
        <button type="button" class="button plain bad push" disabled={isBusy} onClick={() => setQuestion("redact")}>
          Redact…
        </button>
      )}
      {question === "redact" && (
        <Question
          title={`Erase the words of #${seq}?`}
          yes="Erase for good"
          danger
          onYes={() => {
            setQuestion(null);
            void redact(id, seq);
          }}
          onClose={() => setQuestion(null)}
        >
          <p>
            They go from the log, evidence, memory and every fork that shares them; summaries of them are made anew
            without a model. The chain stays whole and says that something was erased. This can't be taken back.
          </p>
        </Question>
      )}
    </div>
  );
}

/** What was added to the question, which the log keeps right behind it. */
function Evidence({ id, of }: { readonly id: string; readonly of: number }) {
  const { value } = useAnswer(`evidence ${id} ${of}`, () =>
    ask("GET /api/threads/{id}/records", { params: { id }, query: { after: of, limit: 10 } }),
  );
  const record = value?.records.find(({ kind, of: about }) => kind === "evidence" && about === of);
  if (record === undefined) return null;
  return (
    <article class="said">
      <header class="dim small kind dot-evidence">evidence, #{record.seq}</header>
      <pre>{visible(String(record["text"] ?? ""))}</pre>
    </article>
  );
}

function FixedDetail({
  id,
  window,
  entry,
}: {
  readonly id: string;
  readonly window: WindowFacts;
  readonly entry: ShownEntry;
}) {
  const { value, problem } = useAnswer(`request ${id} ${window.at}`, async () => {
    const last = window.entries.findLast(({ role }) => role === "assistant")?.seq;
    return ask("GET /api/threads/{id}/requests/{seq}", { params: { id, seq: String(last ?? 1) } });
  });
  const isTools = entry.key === "tools";
  return (
    <div class="stack">
      <h2 class="title">{isTools ? "Definitions of the tools" : "System prompt"}</h2>
      <p class="dim number">
        {Object.entries(window.parts)
          .filter(([name]) => (isTools ? name === "definitions" : FIXED_PARTS.has(name)))
          .map(([name, tokens]) => `${name} ${grouped(tokens)}`)
          .join(" · ")}
      </p>
      {problem !== null &&
        (problem.status === 404 ? (
          <p class="dim">What was sent beside the messages isn't recorded here: {problem.message}.</p>
        ) : (
          <ProblemNote problem={problem} />
        ))}
      {value !== null && <pre>{visible(isTools ? toolsText(value.tools) : systemText(value.system))}</pre>}
    </div>
  );
}

const FIXED_PARTS: ReadonlySet<string> = new Set(["base", "memory", "skills", "instructions", "unseen"]);

function systemText(system: unknown): string {
  if (typeof system === "string") return system;
  const { content } = (system ?? {}) as { readonly content?: unknown };
  return typeof content === "string" ? content : JSON.stringify(system, null, 2);
}

function toolsText(tools: readonly unknown[]): string {
  return tools
    .map((tool) => {
      const { name, description } = tool as { readonly name?: string; readonly description?: string };
      return `${name ?? "?"}\n  ${(description ?? "").split("\n").join("\n  ")}`;
    })
    .join("\n\n");
}
