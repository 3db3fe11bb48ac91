/** One fact: how sure it is, since when it holds, which turns it comes from; to be corrected or forgotten. */
import { useState } from "preact/hooks";
import { type ApiProblem, ask } from "../../api/ask.ts";
import { Question } from "../../parts/dialog.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { addressOf } from "../../router/place.ts";
import { ago, line, percent, visible } from "../../text/format.ts";
import { threadName } from "../thread-name.ts";
import { FactForm } from "./fact-form.tsx";
import { type ShownFact, turnOf } from "./memory-facts.ts";
import type { MemoryChange } from "./memory-view.tsx";

export function FactRow({ fact, change }: { readonly fact: ShownFact; readonly change: MemoryChange }) {
  const [state, setState] = useState<"shown" | "edited" | "forgotten">("shown");
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [isErased, setErased] = useState(false);
  const params = { fact: fact.id };
  const forget = async () => {
    setState("shown");
    const query = isErased ? ({ redact: "true" } as const) : {};
    setProblem(await change(() => ask("DELETE /api/memory/facts/{fact}", { params, query, body: {} })));
  };
  if (state === "edited")
    return (
      <li>
        <FactForm
          label={`Correct: ${line(fact.content, 80)}`}
          fact={fact}
          onClose={() => setState("shown")}
          onSave={({ content, category, confidence }) =>
            change(() => ask("PATCH /api/memory/facts/{fact}", { params, body: { content, category, confidence } }))
          }
        />
      </li>
    );
  return (
    <li class={`fact ${fact.validTo === undefined ? "" : "is-past"}`}>
      <p class="fact-words">{visible(fact.content)}</p>
      <Facts fact={fact} />
      {problem !== null && <ProblemNote problem={problem} />}
      <span class="row fact-acts">
        <button type="button" class="button plain" onClick={() => setState("edited")}>
          Edit<span class="hidden"> {line(fact.content, 60)}</span>
        </button>
        <button type="button" class="button plain" onClick={() => setState("forgotten")}>
          Forget<span class="hidden"> {line(fact.content, 60)}</span>
        </button>
      </span>
      {state === "forgotten" && (
        <Question
          title="Forget this fact?"
          yes={isErased ? "Erase" : "Forget"}
          danger={isErased}
          onYes={() => void forget()}
          onClose={() => setState("shown")}
        >
          <p>{visible(fact.content)}</p>
          <p class="dim">
            {isErased
              ? "Its words are erased everywhere, with the turns it was learned from. This can't be taken back."
              : "It leaves the prompts that show it, and nothing is learned from its turns again. It can be undone."}
          </p>
          <label class="row">
            <input type="checkbox" checked={isErased} onChange={(event) => setErased(event.currentTarget.checked)} />
            Erase its words for good
          </label>
        </Question>
      )}
    </li>
  );
}

function Facts({ fact }: { readonly fact: ShownFact }) {
  const { source, createdAt, confirmedAt, validFrom, validTo, sourceMessageIds = [] } = fact;
  const now = new Date();
  return (
    <p class="dim small row wrap fact-facts">
      <span class="pill" dir="auto">
        {line(fact.category, 30)}
      </span>
      <span class="row number sure">
        <meter class="sureness" min="0" max="1" value={fact.confidence} aria-label="Confidence" />
        {percent(fact.confidence)} sure
      </span>
      <span class="nowrap">
        {[source === "manual" ? "by hand" : source, createdAt && ago(createdAt, now)].filter(Boolean).join(" · ")}
      </span>
      {confirmedAt !== undefined && <span>confirmed {ago(confirmedAt, now)}</span>}
      {validFrom !== undefined && validFrom.slice(0, 10) !== createdAt?.slice(0, 10) && (
        <span>from {validFrom.slice(0, 10)}</span>
      )}
      {validTo !== undefined && <span>until {validTo.slice(0, 10)}</span>}
      {sourceMessageIds.map((id) => {
        const turn = turnOf(id);
        if (turn === null) return <span key={id}>{id}</span>;
        return (
          <a key={id} class="link" href={addressOf("window", turn.thread, { seq: String(turn.seq) })}>
            {line(threadName(turn.thread), 24)} #{turn.seq}
          </a>
        );
      })}
    </p>
  );
}
