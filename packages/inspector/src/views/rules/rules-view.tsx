/** What holds in a thread whatever is compacted: its standing rules, and the notes that the model keeps for itself. */
import { useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { type ApiOutcome, type ApiProblem, type AskAnswer, ask } from "../../api/ask.ts";
import { useThreadChange } from "../../api/threads.ts";
import { Empty } from "../../parts/empty.tsx";
import { Form, focusNew } from "../../parts/form.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { addressOf } from "../../router/place.ts";
import { ago, grouped, visible } from "../../text/format.ts";
import { ofThread, Unread } from "../of-thread.tsx";
import { threadName } from "../thread-name.ts";
import { NotesCard } from "./notes.tsx";

export const RulesView = ofThread(ThreadRules);

type RuleFacts = AskAnswer<"GET /api/threads/{id}/rules">["rules"][number];

function ThreadRules({ id }: { readonly id: string }) {
  const held = useAnswer(`rules ${id}`, () => ask("GET /api/threads/{id}/rules", { params: { id } }));
  useThreadChange(id, held.reload);
  if (held.value === null) return <Unread id={id} what="the rules" held={held} />;
  const { rules } = held.value;
  return (
    <div class="rules-view">
      <header class="row wrap">
        <h1 class="cut" dir="auto">
          {threadName(id)}
        </h1>
        <span class="dim">always in the prompt</span>
      </header>
      <div class="rules-columns">
        <RulesCard id={id} rules={rules} onChange={held.reload} />
        <NotesCard id={id} />
      </div>
    </div>
  );
}

interface RulesCardProps {
  readonly id: string;
  readonly rules: readonly RuleFacts[];
  readonly onChange: () => void;
}

function RulesCard({ id, rules, onChange }: RulesCardProps) {
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [text, setText] = useState("");
  const byStatus = Map.groupBy(rules, ({ status }) => status);
  const active = byStatus.get("active") ?? [];
  const waiting = byStatus.get("proposed") ?? [];
  const ended = byStatus.get("ended") ?? [];
  const act = async (work: Promise<ApiOutcome<unknown>>): Promise<boolean> => {
    const outcome = await work;
    setProblem(outcome.kind === "failed" ? outcome.problem : null);
    onChange();
    return outcome.kind === "ok";
  };
  const add = async () => {
    if (await act(ask("POST /api/threads/{id}/rules", { params: { id }, body: { text: text.trim() } }))) setText("");
  };
  const row = (rule: RuleFacts) => <RuleRow key={rule.id} id={id} rule={rule} onAct={act} />;
  return (
    <section class="card stack" aria-label="Standing rules">
      <div class="row wrap">
        <h2 class="title">Rules</h2>
        <span class="dim number">{grouped(active.length)} in force, of at most 20</span>
      </div>
      <Form class="row" onSend={() => text.trim() !== "" && add()}>
        <input
          class="field grow"
          aria-label="A new rule"
          placeholder="A rule, such as: Never push to main."
          maxLength={500}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="button hot" disabled={text.trim() === ""}>
          Add rule
        </button>
      </Form>
      {problem !== null && <ProblemNote problem={problem} />}
      {rules.length === 0 && (
        <Empty title="No rules yet">
          <p>
            A sentence that binds later turns, such as “Answer in German from now on.”, becomes a rule when a compaction
            hides the message it stands in. Rules stand word for word before every summary.
          </p>
        </Empty>
      )}
      <ul class="stack">{active.map(row)}</ul>
      {waiting.length > 0 && (
        <section class="stack" aria-label="Waiting">
          <h3>Waiting: recognized, but there was no room or no person has agreed</h3>
          <ul class="stack">{waiting.map(row)}</ul>
        </section>
      )}
      {ended.length > 0 && (
        <details>
          <summary>Ended: {grouped(ended.length)}</summary>
          <ul class="stack">{ended.map(row)}</ul>
        </details>
      )}
    </section>
  );
}

interface RuleRowProps {
  readonly id: string;
  readonly rule: RuleFacts;
  readonly onAct: (work: Promise<ApiOutcome<unknown>>) => Promise<boolean>;
}

function RuleRow({ id, rule, onAct }: RuleRowProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const { status, source, by, at, scope, ended } = rule;
  const params = { id };
  const body = { rule: rule.id };
  const save = async (text: string) => {
    if (await onAct(ask("POST /api/threads/{id}/edit-rule", { params, body: { ...body, text } }))) setDraft(null);
  };
  return (
    <li class={`rule rule-${status}`}>
      {draft === null ? (
        <p class="words" dir="auto">
          {visible(rule.text)}
        </p>
      ) : (
        <Form class="stack" onSend={() => save(draft.trim())}>
          <textarea
            ref={focusNew}
            class="field"
            aria-label={`Words of ${rule.id}`}
            rows={2}
            maxLength={500}
            value={draft}
            onInput={(event) => setDraft(event.currentTarget.value)}
          />
          <div class="row">
            <button type="submit" class="button hot" disabled={draft.trim() === ""}>
              Save
            </button>
            <button type="button" class="button" onClick={() => setDraft(null)}>
              Cancel
            </button>
          </div>
        </Form>
      )}
      <div class="row wrap dim small">
        <span class="mono">{rule.id}</span>
        <span>{scope === "thread" ? BY[by] : COPIED[scope]}</span>
        {source !== null && (
          <a class="link mono" href={addressOf("window", id, { seq: String(source) })}>
            #{source}
          </a>
        )}
        <span>{ago(at, new Date())}</span>
        {ended !== undefined && <span dir="auto">ended: {visible(ended)}</span>}
        {draft === null && scope === "thread" && (
          <span class="row push">
            {status === "active" && (
              <button type="button" class="button plain" onClick={() => setDraft(rule.text)}>
                Edit<span class="hidden"> {rule.id}</span>
              </button>
            )}
            <button
              type="button"
              class="button plain"
              onClick={() =>
                void onAct(
                  status === "active"
                    ? ask("POST /api/threads/{id}/end-rule", { params, body })
                    : ask("POST /api/threads/{id}/restore-rule", { params, body }),
                )
              }
            >
              {status === "active" ? "End" : "Put in force"}
              <span class="hidden"> {rule.id}</span>
            </button>
          </span>
        )}
      </div>
    </li>
  );
}

/** Copies: they are changed where they come from. */
const COPIED = {
  agent: "of the agent, from its configuration",
  user: "of the user, from the configuration",
  file: "from a file",
} as const;
const BY = { recognized: "recognized", hand: "set by hand", model: "set by the model" } as const;
