/** Where one writes: a message, files for the agent, which model answers; and the way to stop it. */
import type { NewRun } from "palimpsest/client";
import { useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { type ApiProblem, ask, problemOf } from "../../api/ask.ts";
import { useActions } from "../../keyboard/actions.ts";
import { chooseFiles, useFileDrop } from "../../parts/file-drop.ts";
import { focusNew } from "../../parts/form.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { withUploads } from "../../text/thread-file.ts";
import { uploadFile } from "./upload.ts";

interface ComposerProps {
  /** One writes at once: it has the focus when it appears. */
  readonly isNew: boolean;
  /** The thread that files go to; null: it can't be made. */
  readonly threadOf: () => Promise<string | null>;
  readonly isRunning: boolean;
  readonly onStop: () => void;
  /** `kept`: it could not be said, so it stays in the line. */
  readonly onSay: (run: NewRun) => Promise<"said" | "kept">;
}

export function Composer({ isNew, threadOf, isRunning, onStop, onSay }: ComposerProps) {
  const [text, setText] = useState("");
  const [files, setFiles] = useState<readonly string[]>([]);
  const [model, setModel] = useState("");
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const models = useAnswer("models", () => ask("GET /api/models"));
  const names = (models.value?.configured ?? []).map(({ name }) => name);

  const say = async () => {
    const written = text.trim();
    if ((written === "" && files.length === 0) || isRunning) return;
    const outcome = await onSay({ prompt: withUploads(written, files), ...(model !== "" && { model }) });
    if (outcome === "kept") return;
    setText("");
    setFiles([]);
  };
  const bring = async (list: FileList | null | undefined) => {
    const chosen = [...(list ?? [])];
    if (chosen.length === 0) return;
    setProblem(null);
    const threadId = await threadOf();
    if (threadId === null) return;
    for (const file of chosen) {
      try {
        const path = await uploadFile(threadId, file);
        setFiles((known) => [...known.filter((one) => one !== path), path]);
      } catch (error) {
        setProblem(problemOf(error));
      }
    }
  };
  const { isOver, listeners } = useFileDrop(bring);
  useActions([{ name: "Write a message", key: "c", run: () => focusNew(document.querySelector("#prompt")) }], "");
  return (
    <form
      class={`composer ${isOver ? "is-over" : ""}`}
      aria-label="Your message"
      onSubmit={(event) => {
        event.preventDefault();
        void say();
      }}
      {...listeners}
    >
      {problem !== null && <ProblemNote problem={problem} />}
      {files.length > 0 && (
        <ul class="row wrap" aria-label="Files with your next message">
          {files.map((path) => (
            <li key={path} class="pill">
              {path.slice(path.lastIndexOf("/") + 1)}
            </li>
          ))}
        </ul>
      )}
      <textarea
        id="prompt"
        ref={isNew ? focusNew : null}
        class="field"
        rows={2}
        aria-label="Message"
        placeholder="Say something. Enter sends, Shift-Enter is a new line."
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onPaste={(event) => void bring(event.clipboardData?.files)}
        onKeyDown={(event) => {
          if (event.key === "Escape" && isRunning) onStop();
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          void say();
        }}
      />
      <div class="row wrap">
        <button type="button" class="button" onClick={() => chooseFiles(bring)}>
          Upload…
        </button>
        {names.length > 1 && (
          <select
            class="field"
            aria-label="Model"
            value={model}
            onChange={(event) => setModel(event.currentTarget.value)}
          >
            <option value="">{names[0]} (default)</option>
            {names.slice(1).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
        {isRunning ? (
          <button type="button" class="button bad push" onClick={onStop}>
            Stop <kbd>Esc</kbd>
          </button>
        ) : (
          <button type="submit" class="button hot push" disabled={text.trim() === "" && files.length === 0}>
            Send
          </button>
        )}
      </div>
    </form>
  );
}
