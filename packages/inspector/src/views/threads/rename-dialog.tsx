/** Gives a thread another name; its id stays. */
import { useState } from "preact/hooks";
import { type ApiProblem, ask } from "../../api/ask.ts";
import { Question } from "../../parts/dialog.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { visible } from "../../text/format.ts";
import type { ThreadRowText } from "../../text/thread-row.ts";

export function RenameDialog({ thread, onClose }: { readonly thread: ThreadRowText; readonly onClose: () => void }) {
  const [title, setTitle] = useState(thread.title ?? "");
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const rename = async () => {
    const outcome = await ask("PATCH /api/threads/{id}", { params: { id: thread.id }, body: { title } });
    if (outcome.kind === "failed") setProblem(outcome.problem);
    else onClose();
  };
  return (
    <Question title="Rename this thread" yes="Rename" onYes={() => void rename()} onClose={onClose}>
      <label class="stack" for="title">
        A name for {visible(thread.id)}
        <input
          id="title"
          class="field"
          required
          maxLength={200}
          value={title}
          onInput={(event) => setTitle(event.currentTarget.value)}
        />
      </label>
      {problem !== null && <ProblemNote problem={problem} />}
    </Question>
  );
}
