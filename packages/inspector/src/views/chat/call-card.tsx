/** A tool call: one line, folded over what went in and what came out. A sub-agent's work stands inside it. */
import { useState } from "preact/hooks";
import { Form } from "../../parts/form.tsx";
import { Prose } from "../../parts/prose.tsx";
import { addressOf } from "../../router/place.ts";
import { bothEnds, grouped, line, visible } from "../../text/format.ts";
import { type CallChild, gist, type UiCallPart } from "./parts.ts";
import type { ChatActs } from "./said.tsx";

interface CallCardProps {
  readonly part: UiCallPart;
  readonly acts: ChatActs;
}

export function CallCard({ part, acts }: CallCardProps) {
  const { name, input, state, output, child, ms } = part;
  const [isOpen, setOpen] = useState<boolean | null>(null);
  return (
    <div class={`call call-${state}`}>
      <details open={isOpen ?? state === "waiting"} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="call-name mono">{name}</span>
          <span class="cut dim mono">{line(gist(input), 120)}</span>
          <span class="push row">
            {ms !== undefined && <span class="dim small number">{grouped(ms)} ms</span>}
            <span class={`pill ${HOT.has(state) ? "hot" : ""}`}>{STATES[state]}</span>
          </span>
        </summary>
        <Text label="Input" text={input} chars={part.inputChars} most={state === "waiting" ? MOST_ASKED : MOST_SHOWN} />
        {output !== null && (
          <Text label="Output" text={output} chars={part.outputChars ?? output.length} most={MOST_SHOWN} />
        )}
      </details>
      {state === "waiting" && <Approval part={part} acts={acts} />}
      {child !== null && <ChildCard child={child} acts={acts} />}
    </div>
  );
}

const STATES: Readonly<Record<UiCallPart["state"], string>> = {
  writing: "being written",
  running: "running",
  open: "not answered",
  waiting: "waits for you",
  done: "done",
  failed: "failed",
  denied: "denied",
};

const HOT: ReadonlySet<string> = new Set(["waiting", "failed", "denied"]);
const MOST_SHOWN = 20_000;
/** Before a person says yes: so much is read, and its end is seen. */
const MOST_ASKED = 6000;

interface TextProps {
  readonly label: string;
  readonly text: string;
  /** Of the whole text, of which the server may have sent the beginning only. */
  readonly chars: number;
  readonly most: number;
}

function Text({ label, text, chars, most }: TextProps) {
  return (
    <div class="call-text">
      <p class="dim small" aria-hidden="true">
        {label}
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: a landmark for each would be too many */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <div class="call-box" role="group" tabIndex={0} aria-label={label}>
        <pre>{visible(bothEnds(pretty(text), most))}</pre>
      </div>
      {chars > text.length && (
        <p class="dim small">
          {grouped(text.length)} of {grouped(chars)} characters
        </p>
      )}
    </div>
  );
}

function pretty(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** What was typed so far, by call: the conversation may be shown anew while a person types. */
const reasons = new Map<string, string>();

function Approval({ part, acts }: CallCardProps) {
  const [reason, setReason] = useState(() => reasons.get(part.id) ?? "");
  const decide = (answer: "yes" | "no") => {
    const typed = reasons.get(part.id) ?? "";
    reasons.delete(part.id);
    void acts.decide(part.id, answer, answer === "no" ? typed : "");
  };
  return (
    <Form class="row wrap approval" onSend={() => decide("no")}>
      <button type="button" class="button hot" disabled={acts.isBusy} onClick={() => decide("yes")}>
        Approve<span class="hidden"> {part.name}</span>
      </button>
      <button type="submit" class="button bad" disabled={acts.isBusy}>
        Deny<span class="hidden"> {part.name}</span>
      </button>
      <input
        class="field grow"
        aria-label="Why it is denied: the model reads it"
        placeholder="Why not? The model reads it."
        value={reason}
        onInput={({ currentTarget: { value } }) => {
          reasons.set(part.id, value);
          setReason(value);
        }}
      />
    </Form>
  );
}

function ChildCard({ child, acts }: { readonly child: CallChild; readonly acts: ChatActs }) {
  const { agent, about, status, thread, parts } = child;
  return (
    <section class="child" aria-label={`Sub-agent ${agent}`}>
      <header class="row">
        <strong>{agent}</strong>
        <span class="cut dim">{line(about, 120)}</span>
        <span class="pill push">{status}</span>
        <a class="button plain" href={addressOf("chat", thread)}>
          Open<span class="hidden"> the thread of {agent}</span>
        </a>
      </header>
      {parts.map((part, index) =>
        part.kind === "call" ? (
          <CallCard key={part.id} part={part} acts={acts} />
        ) : part.kind === "text" ? (
          <Prose key={`t${index}`} text={part.text.slice(0, MOST_SHOWN)} threadId={thread} />
        ) : null,
      )}
    </section>
  );
}
