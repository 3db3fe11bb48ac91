/** Something that happened to the thread, as a line in the conversation. */
import { addressOf } from "../../router/place.ts";
import { line } from "../../text/format.ts";
import type { ActEntry } from "./conversation.ts";
import type { ChatActs } from "./said.tsx";
import type { TakenBack } from "./taken-back.ts";

interface ActProps {
  readonly entry: ActEntry;
  readonly threadId: string;
  readonly acts: ChatActs;
  readonly undone: TakenBack;
}

export function Act({ entry, threadId, acts, undone }: ActProps) {
  const { act, text, detail, seq, isOpen, options } = entry;
  if (act === "problem")
    return (
      <div class="problem row wrap" role="alert">
        <span>{text}</span>
        {detail !== "" && <span class="code">{detail}</span>}
        <button type="button" class="button push" disabled={acts.isBusy} onClick={() => void acts.retry()}>
          Try again
        </button>
      </div>
    );
  const isUndone = seq !== null && undone.acts.has(seq);
  const canUndo = (act === "compaction" || act === "prune") && seq !== null && !isUndone;
  const brought = seq === null ? undefined : undone.redone.get(seq);
  return (
    <div class={`act act-${act} ${isOpen ? "is-open" : ""}`}>
      <span class="act-text">{brought === undefined ? text : `Brought back #${brought}`}</span>
      {isUndone && <span class="pill">taken back</span>}
      {detail !== "" && <span class="dim small cut">{line(asSaid(detail), 160)}</span>}
      {canUndo && (
        <span class="row push">
          <a class="button plain" href={addressOf("window", threadId)}>
            See the window
          </a>
          <button type="button" class="button plain" disabled={acts.isBusy} onClick={() => void acts.undo(seq)}>
            Undo<span class="hidden"> #{seq}</span>
          </button>
        </span>
      )}
      {options.map((option) => (
        <button key={option} type="button" class="button" disabled={acts.isBusy} onClick={() => void acts.say(option)}>
          {option}
        </button>
      ))}
    </div>
  );
}

/** Evidence as it stands in the prompt, without what only frames it there. */
function asSaid(detail: string): string {
  return detail
    .replace(/^<\w+>\s*(?:Looked up in memory.*\n)?/, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
