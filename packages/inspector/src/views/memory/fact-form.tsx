/** A fact as it is written or corrected. */
import { useState } from "preact/hooks";
import type { ApiProblem } from "../../api/ask.ts";
import { Form, focusNew } from "../../parts/form.tsx";
import { ProblemNote } from "../../parts/problem.tsx";

export interface WrittenFact {
  readonly content: string;
  readonly category: string;
  readonly confidence: number;
}

interface FactFormProps {
  readonly label: string;
  readonly fact: WrittenFact;
  readonly onSave: (fact: WrittenFact) => Promise<ApiProblem | null>;
  readonly onClose: () => void;
}

export function FactForm({ label, fact, onSave, onClose }: FactFormProps) {
  const [written, setWritten] = useState(fact);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const set = (change: Partial<WrittenFact>) => setWritten({ ...written, ...change });
  const save = async () => {
    const refused = await onSave({ ...written, content: written.content.trim(), category: written.category.trim() });
    if (refused === null) onClose();
    else setProblem(refused);
  };
  return (
    <Form class="card fact-form" label={label} onSend={save} onEscape={onClose}>
      <textarea
        class="field"
        rows={2}
        maxLength={500}
        required
        aria-label="The fact"
        placeholder="The user prefers short answers"
        ref={focusNew}
        value={written.content}
        onInput={(event) => set({ content: event.currentTarget.value })}
      />
      {problem !== null && <ProblemNote problem={problem} />}
      <div class="row wrap">
        <label class="row">
          <span class="dim small">Category</span>
          <input
            class="field short"
            required
            maxLength={64}
            list="categories"
            value={written.category}
            onInput={(event) => set({ category: event.currentTarget.value })}
          />
        </label>
        <datalist id="categories">
          {["preference", "knowledge", "context", "behavior", "goal"].map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <label class="row">
          <span class="dim small">Confidence</span>
          <input
            class="field short number"
            type="number"
            min="0"
            max="1"
            step="0.05"
            value={written.confidence}
            onInput={(event) => set({ confidence: Number(event.currentTarget.value) })}
          />
        </label>
        <button type="button" class="button push" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="button hot">
          Save
        </button>
      </div>
    </Form>
  );
}
