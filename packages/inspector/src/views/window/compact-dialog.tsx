/** Asks what the summary should keep in view, before a compaction. */
import { useState } from "preact/hooks";
import { Question } from "../../parts/dialog.tsx";

interface CompactDialogProps {
  readonly onCompact: (focus: string) => void;
  readonly onClose: () => void;
}

export function CompactDialog({ onCompact, onClose }: CompactDialogProps) {
  const [focus, setFocus] = useState("");
  return (
    <Question title="Compact this thread" yes="Compact" onYes={() => onCompact(focus)} onClose={onClose}>
      <p class="dim">The older part is hidden behind a summary. Nothing is lost: undo shows it again, word for word.</p>
      <label class="stack" for="focus">
        What should the summary keep in view? (may stay empty)
        <textarea
          id="focus"
          class="field"
          rows={2}
          value={focus}
          onInput={(event) => setFocus(event.currentTarget.value)}
        />
      </label>
    </Question>
  );
}
