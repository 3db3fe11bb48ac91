/** What a compaction would do, before it does it: figures, what it would hide, and the summary's text beside the present one. */
import { useEffect } from "preact/hooks";
import { isTyping } from "../../keyboard/actions.ts";
import { diff } from "../../text/diff.ts";
import { grouped, visible } from "../../text/format.ts";

/** As a dry run of `POST /api/threads/{id}/compact` answers. */
export interface Planned {
  readonly kind: string;
  readonly reason?: unknown;
  readonly rung?: unknown;
  readonly tokensBefore?: unknown;
  readonly tokensAfter?: unknown;
  readonly hidden?: unknown;
  readonly standing?: unknown;
  readonly messages?: unknown;
}

interface PreviewProps {
  readonly planned: Planned;
  /** The text of the summary that stands now. */
  readonly summary: string;
  readonly hiddenNow: number;
  readonly onCompact: () => void;
  readonly onClose: () => void;
}

export function Preview({ planned, summary, hiddenNow, onCompact, onClose }: PreviewProps) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !isTyping(event)) onClose();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  if (planned.kind !== "compacted")
    return (
      <div class="stack">
        <h2 class="title">Nothing would change</h2>
        <p class="dim">{reasonOf(planned.reason)}</p>
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    );
  const [, last = 0] = (planned.hidden ?? []) as readonly number[];
  const steps = diff(linesIn(summary), linesIn(summaryIn(planned.messages)));
  return (
    <div class="stack">
      <h2 class="title">What a compaction would do</h2>
      <p>
        <strong class="number">
          {grouped(Number(planned.tokensBefore))} → {grouped(Number(planned.tokensAfter))} tokens
        </strong>
        . It would hide #{hiddenNow + 1} to #{last} as well; the log keeps them, and undo brings them back. Rules wrote
        this text: nothing was asked of a model, and nothing is written yet.
      </p>
      <div class="row">
        <button type="button" class="button hot" onClick={onCompact}>
          Compact
        </button>
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
      <section class="diff" aria-label="The summary: lines that go and that come">
        {steps.map(({ kind, value }, index) => (
          <div key={index} class={kind} dir="auto">
            <span class="hidden">{kind === "same" ? "" : kind === "gone" ? "goes: " : "comes: "}</span>
            {visible(value)}
          </div>
        ))}
      </section>
    </div>
  );
}

function reasonOf(reason: unknown): string {
  const words: Readonly<Record<string, string>> = {
    "too-short": "There is too little to hide: everything here is kept word for word.",
    nothing: "There is too little to hide: everything here is kept word for word.",
  };
  return words[String(reason)] ?? `Nothing can be hidden now (${String(reason)}).`;
}

function linesIn(text: string): readonly string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

/** The first message of the plan, in whichever format it is. */
function summaryIn(messages: unknown): string {
  const list = (Array.isArray(messages) ? messages : []) as readonly {
    readonly content?: unknown;
    readonly parts?: unknown;
  }[];
  const texts = list.map(({ content, parts }) => textIn(content ?? parts));
  return texts.find((text) => text.startsWith("Record of")) ?? texts[0] ?? "";
}

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { readonly text?: unknown }) => (typeof part.text === "string" ? part.text : ""))
    .join("\n");
}
