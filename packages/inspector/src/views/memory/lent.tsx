/** What the newest request was lent from memory: the facts and turns that stood beside its question. */
import { useComputed } from "@preact/signals";
import { useAnswer } from "../../api/answer.ts";
import { type ApiOutcome, ask, notAsked } from "../../api/ask.ts";
import { threads } from "../../api/threads.ts";
import { Prose } from "../../parts/prose.tsx";
import { addressOf } from "../../router/place.ts";
import { grouped, visible } from "../../text/format.ts";
import type { ThreadRowText } from "../../text/thread-row.ts";

interface Loan {
  readonly thread: string;
  readonly title: string;
  /** Tokens of the block of facts in its system prompt. */
  readonly block: number;
  readonly evidence: { readonly of: number; readonly text: string } | null;
}

export function Lent() {
  const newest = useComputed(() => {
    const rows = [...threads.value.values()].filter(({ kind }) => kind === "main");
    return rows.reduce<ThreadRowText | null>((a, b) => (a === null || b.updatedAt > a.updatedAt ? b : a), null);
  }).value;
  const loan = useAnswer(`lent ${newest?.id} ${newest?.updatedAt}`, () => loanOf(newest));
  const { value } = loan;
  return (
    <section class="card" aria-labelledby="lent-title">
      <h2 id="lent-title">In the last prompt</h2>
      {value === null ? (
        <p class="dim">{loan.isLoading ? "…" : "No thread has asked anything yet."}</p>
      ) : (
        <>
          <p class="small">
            <a class="link" href={addressOf("window", value.thread)}>
              {visible(value.title)}
            </a>
            <span class="dim"> · {grouped(value.block)} tokens of facts</span>
          </p>
          {value.evidence === null ? (
            <p class="dim small">Nothing was looked up for its last question.</p>
          ) : (
            <details class="fold">
              <summary>Beside its question #{value.evidence.of}</summary>
              <Prose text={value.evidence.text} />
            </details>
          )}
        </>
      )}
    </section>
  );
}

async function loanOf(newest: ThreadRowText | null): Promise<ApiOutcome<Loan | null>> {
  if (newest === null) return notAsked();
  const params = { id: newest.id };
  const [transcript, context] = await Promise.all([
    ask("GET /api/threads/{id}/transcript", { params, query: { limit: 100 } }),
    ask("GET /api/threads/{id}/context", { params }),
  ]);
  if (transcript.kind === "failed") return transcript;
  const evidence = transcript.value.entries.findLast(({ kind }) => kind === "evidence");
  const question = transcript.value.entries.findLast((entry) => entry["role"] === "user")?.seq ?? 0;
  const own = evidence !== undefined && Number(evidence["of"]) >= question ? evidence : null;
  return {
    kind: "ok",
    value: {
      thread: newest.id,
      title: newest.title ?? newest.id,
      block: context.kind === "ok" ? (context.value.parts["memory"] ?? 0) : 0,
      evidence: own && { of: Number(own["of"]), text: String(own["text"]) },
    },
  };
}
