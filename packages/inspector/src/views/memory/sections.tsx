/** The sections of the memory document, each to be rewritten. */
import { useState } from "preact/hooks";
import { type ApiProblem, ask } from "../../api/ask.ts";
import { ProblemNote } from "../../parts/problem.tsx";
import { visible } from "../../text/format.ts";
import { SECTIONS, sectionOf } from "./memory-facts.ts";
import type { MemoryChange, ShownMemory } from "./memory-view.tsx";

type Path = (typeof SECTIONS)[number][0];

export function Sections({ memory, change }: { readonly memory: ShownMemory; readonly change: MemoryChange }) {
  return (
    <section aria-labelledby="sections-title">
      <h2 id="sections-title">Sections</h2>
      {SECTIONS.map(([path, title]) => (
        <Section key={path} path={path} title={title} text={sectionOf(memory, path)} change={change} />
      ))}
    </section>
  );
}

interface SectionProps {
  readonly path: Path;
  readonly title: string;
  readonly text: string;
  readonly change: MemoryChange;
}

function Section({ path, title, text, change }: SectionProps) {
  const [written, setWritten] = useState<string | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const save = async () => {
    const refused = await change(() => ask("PUT /api/memory", { body: { [path]: written ?? "" } }));
    setProblem(refused);
    if (refused === null) setWritten(null);
  };
  return (
    <div class="memory-section">
      <div class="row">
        <h3>{title}</h3>
        {text === "" && written === null && <span class="dim small">nothing yet</span>}
        {written === null && (
          <button type="button" class="button plain push" onClick={() => setWritten(text)}>
            Edit<span class="hidden"> {title}</span>
          </button>
        )}
      </div>
      {written === null ? (
        text !== "" && <p class="words">{visible(text)}</p>
      ) : (
        <form
          class="fact-form"
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <textarea
            class="field"
            rows={4}
            aria-label={title}
            value={written}
            onInput={(event) => setWritten(event.currentTarget.value)}
          />
          {problem !== null && <ProblemNote problem={problem} />}
          <div class="row">
            <button type="button" class="button push" onClick={() => setWritten(null)}>
              Cancel
            </button>
            <button type="submit" class="button hot">
              Save
            </button>
          </div>
        </form>
      )}
    </div>
  );
}
