/** The sections of the memory document: paragraphs about a person, each to be rewritten. Unwritten ones take one line in all. */
import { useState } from "preact/hooks";
import { type ApiProblem, ask } from "../../api/ask.ts";
import { Form, focusNew } from "../../parts/form.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { visible } from "../../text/format.ts";
import { SECTIONS, sectionOf } from "./memory-facts.ts";
import type { MemoryChange, ShownMemory } from "./memory-view.tsx";

type Path = (typeof SECTIONS)[number][0];

export function Sections({ memory, change }: { readonly memory: ShownMemory; readonly change: MemoryChange }) {
  const [edited, setEdited] = useState<Path | null>(null);
  const sections = SECTIONS.map(([path, title]) => ({ path, title, text: sectionOf(memory, path) }));
  const unwritten = sections.filter(({ path, text }) => text === "" && path !== edited);
  return (
    <section class="card" aria-labelledby="sections-title">
      <h2 id="sections-title">About you, in paragraphs</h2>
      {sections
        .filter((section) => !unwritten.includes(section))
        .map(({ path, title, text }) =>
          path === edited ? (
            <SectionForm
              key={path}
              path={path}
              title={title}
              text={text}
              change={change}
              onClose={() => setEdited(null)}
            />
          ) : (
            <div key={path} class="memory-section">
              <div class="row">
                <h3>{title}</h3>
                <EditButton title={title} onEdit={() => setEdited(path)} />
              </div>
              <p class="words">{visible(text)}</p>
            </div>
          ),
        )}
      {unwritten.length > 0 && (
        <div class="row wrap unwritten">
          <span class="dim small">Write about</span>
          {unwritten.map(({ path, title }) => (
            <button key={path} type="button" class="pill" onClick={() => setEdited(path)}>
              <span class="hidden">Edit </span>
              {title}
            </button>
          ))}
        </div>
      )}
    </section>
  );
}

function EditButton({ title, onEdit }: { readonly title: string; readonly onEdit: () => void }) {
  return (
    <button type="button" class="button plain push" onClick={onEdit}>
      Edit<span class="hidden"> {title}</span>
    </button>
  );
}

interface SectionFormProps {
  readonly path: Path;
  readonly title: string;
  readonly text: string;
  readonly change: MemoryChange;
  readonly onClose: () => void;
}

function SectionForm({ path, title, text, change, onClose }: SectionFormProps) {
  const [written, setWritten] = useState(text);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const save = async () => {
    const refused = await change(() => ask("PUT /api/memory", { body: { [path]: written } }));
    if (refused === null) onClose();
    else setProblem(refused);
  };
  return (
    <Form class="fact-form" onSend={save} onEscape={onClose}>
      <h3>{title}</h3>
      <textarea
        class="field"
        rows={4}
        aria-label={title}
        ref={focusNew}
        value={written}
        onInput={(event) => setWritten(event.currentTarget.value)}
      />
      {problem !== null && <ProblemNote problem={problem} />}
      <div class="row">
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
