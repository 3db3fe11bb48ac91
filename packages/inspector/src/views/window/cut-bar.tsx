/** What can be done with the messages that are chosen or dragged here: pinned, hidden, folded, shown again. */
import { useState } from "preact/hooks";
import { useActions } from "../../keyboard/actions.ts";
import { Question } from "../../parts/dialog.tsx";
import { counted, grouped } from "../../text/format.ts";
import { pin, underWay } from "./acts.ts";
import type { CutTarget } from "./cut-target.ts";
import { cut, draggedTarget, propose, proposed, showAgain } from "./cuts.ts";

interface CutBarProps {
  readonly id: string;
  /** Null: nothing that is chosen can be cut. */
  readonly target: CutTarget | null;
}

interface CutAct {
  readonly name: string;
  readonly key: string;
  readonly does: string;
  run(target: CutTarget): void;
}

export function CutBar({ id, target }: CutBarProps) {
  const subject = draggedTarget.value ?? target;
  const acts = actsFor(id, subject);
  useActions(
    target === null
      ? []
      : actsFor(id, target).map(({ name, key, run }) => ({
          name: `${name} ${rangeWords(target)}`,
          key,
          run: () => run(target),
        })),
    `${id} ${JSON.stringify(target)}`,
  );
  return (
    <div class={`cut-bar row wrap ${draggedTarget.value === null ? "" : "dropping"}`}>
      <span class="dim small number cut-words">
        {subject === null
          ? "Choose a message, or several with Shift, or drag them here: to pin, hide or fold them"
          : `${rangeWords(subject)} · ${grouped(subject.tokens)} tokens`}
      </span>
      {subject !== null && (
        <span class="row push">
          {acts.map(({ name, key, does, run }) => (
            <DropButton
              key={key}
              name={name}
              shortcut={key}
              does={does}
              of={rangeWords(subject)}
              onDo={() => run(subject)}
            />
          ))}
        </span>
      )}
      {proposed.value !== null && <CutQuestion id={id} />}
    </div>
  );
}

/** Which acts make sense for it. */
function actsFor(id: string, target: CutTarget | null): readonly CutAct[] {
  if (target === null) return [];
  const isOne = target.from === target.until;
  const pinIt = {
    name: target.isPinned ? "Unpin" : "Pin",
    key: "i",
    does: target.isPinned ? "Summaries no longer quote it" : "Every summary quotes it word for word",
    run: ({ from }: CutTarget) => void pin(id, from, !target.isPinned),
  };
  const hide = {
    name: "Hide",
    key: "h",
    does: "A short line stands in its place; the log keeps it",
    run: (one: CutTarget) => void propose(id, "hide", one),
  };
  const fold = {
    name: "Fold",
    key: "z",
    does: "One short turn stands for the messages; the log keeps them",
    run: (one: CutTarget) => void propose(id, "fold", one),
  };
  const show = {
    name: "Show again",
    key: "s",
    does: "As it was said",
    run: (one: CutTarget) => void showAgain(id, one),
  };
  if (target.state === "summarized") return [pinIt];
  if (target.state === "hidden") return [...(isOne ? [pinIt] : []), show];
  return isOne ? [pinIt, hide, fold] : [fold];
}

interface DropButtonProps {
  readonly name: string;
  readonly shortcut: string;
  readonly does: string;
  readonly of: string;
  readonly onDo: () => void;
}

function DropButton({ name, shortcut, does, of, onDo }: DropButtonProps) {
  const [isOver, setOver] = useState(false);
  return (
    <button
      type="button"
      class={`button ${isOver ? "hot" : ""}`}
      title={does}
      aria-keyshortcuts={shortcut}
      disabled={underWay.value !== null}
      onClick={onDo}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onDo();
        draggedTarget.value = null;
      }}
    >
      {name}
      <span class="hidden"> {of}</span> <kbd>{shortcut}</kbd>
    </button>
  );
}

function CutQuestion({ id }: { readonly id: string }) {
  const [report, setReport] = useState("");
  const plan = proposed.value;
  if (plan === null) return null;
  const { kind, target, tokensBefore, tokensAfter, rereads, paysAfter } = plan;
  const name = kind === "hide" ? "Hide" : "Fold";
  return (
    <Question
      title={`${name} ${rangeWords(target)}?`}
      yes={name}
      onYes={() => void cut(id, kind, target, report)}
      onClose={() => {
        proposed.value = null;
      }}
    >
      <p>
        The prompt gets <strong class="number">{grouped(tokensBefore - tokensAfter)} tokens</strong> smaller:{" "}
        <span class="number">
          {grouped(tokensBefore)} → {grouped(tokensAfter)}
        </span>
        . The next request reads <span class="number">{grouped(rereads)}</span> tokens without the prompt cache
        {paysAfter !== null && `; the smaller prompt makes up for that after ${counted(paysAfter, "request")}`}. The log
        keeps every word; undo brings it back.
      </p>
      {kind === "fold" && (
        <label class="stack" for="report">
          What shall stand there? If it stays empty, it is made without a model.
          <textarea
            id="report"
            class="field"
            rows={3}
            value={report}
            onInput={(event) => setReport(event.currentTarget.value)}
          />
        </label>
      )}
    </Question>
  );
}

function rangeWords({ from, until, messages }: CutTarget): string {
  return from === until ? `#${from}` : `#${from} to #${until}${messages > 1 ? `, ${grouped(messages)} entries` : ""}`;
}
