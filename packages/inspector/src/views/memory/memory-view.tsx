/** What is remembered about a person: facts, sections, every change, what the last request was lent; and the say over it. */
import { useEffect, useState } from "preact/hooks";
import { type Held, useAnswer } from "../../api/answer.ts";
import { type ApiOutcome, type ApiProblem, type AskAnswer, ask } from "../../api/ask.ts";
import { useActions } from "../../keyboard/actions.ts";
import { Empty } from "../../parts/empty.tsx";
import { chooseFiles } from "../../parts/file-drop.ts";
import { ProblemNote } from "../../parts/problem.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { addressOf } from "../../router/place.ts";
import { counted, grouped, line } from "../../text/format.ts";
import { FactForm } from "./fact-form.tsx";
import { FactRow } from "./fact-row.tsx";
import { History } from "./history.tsx";
import { Lent } from "./lent.tsx";
import { type FactGroup, groupsOf, type ShownFact } from "./memory-facts.ts";
import { Sections } from "./sections.tsx";

export type ShownMemory = AskAnswer<"GET /api/memory">;

/** Does something and shows the memory as it is then; null: it went well. */
export type MemoryChange = (act: () => Promise<ApiOutcome<unknown>>) => Promise<ApiProblem | null>;

export function MemoryView() {
  const memory = useAnswer("memory", () => ask("GET /api/memory"));
  const history = useAnswer("history", () => ask("GET /api/memory/history"));
  const change: MemoryChange = async (act) => {
    const outcome = await act();
    memory.reload();
    history.reload();
    return outcome.kind === "failed" ? outcome.problem : null;
  };
  useEffect(() => {
    // Memory learns while one looks.
    const timer = setInterval(() => {
      if (document.hidden) return;
      memory.reload();
      history.reload();
    }, 10_000);
    return () => clearInterval(timer);
  }, []);
  if (memory.problem !== null && memory.value === null)
    return (
      <section class="memory-facts">
        <h1>Memory</h1>
        <ProblemNote problem={memory.problem} retry={memory.reload} />
      </section>
    );
  return (
    <div class="memory">
      <Facts memory={memory} change={change} />
      <aside class="memory-side" aria-label="Sections, changes and what was lent">
        <Lent />
        {memory.value !== null && <Sections memory={memory.value} change={change} />}
        <History changes={history.value?.changes ?? []} change={change} />
      </aside>
    </div>
  );
}

function Facts({ memory, change }: { readonly memory: Held<ShownMemory>; readonly change: MemoryChange }) {
  const [words, setWords] = useState("");
  const [category, setCategory] = useState<string | null>(null);
  const [isAdding, setAdding] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const facts = (memory.value?.facts ?? []) as readonly ShownFact[];
  const found = groupsOf(facts, words);
  const groups = found.some((group) => group.category === category)
    ? found.filter((group) => group.category === category)
    : found;
  useActions([{ name: "Add a fact", key: "a", run: () => setAdding(true) }], "memory");
  const exported = async () => {
    const document = await ask("GET /api/memory/export");
    if (document.kind === "failed") return setProblem(document.problem);
    saveFile("memory.json", JSON.stringify(document.value, null, 2));
  };
  const imported = async ([file]: FileList) => {
    if (file === undefined) return;
    setProblem(await change(async () => importText(await file.text())));
  };
  const choose = () => chooseFiles(imported, ".json,application/json");
  return (
    <section class="memory-facts" aria-labelledby="facts-title">
      <header class="row wrap">
        <h1 id="facts-title">Memory</h1>
        <span class="dim number">{counted(facts.length, "fact")}</span>
        <input
          class="field push search"
          type="search"
          aria-label="Find a fact"
          placeholder="Find a fact"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <button type="button" class="button hot" onClick={() => setAdding(true)}>
          Add…
        </button>
        <button type="button" class="button" onClick={() => void exported()}>
          Export
        </button>
        <button type="button" class="button" onClick={choose}>
          Import…
        </button>
      </header>
      {problem !== null && <ProblemNote problem={problem} />}
      {memory.problem !== null && <ProblemNote problem={memory.problem} retry={memory.reload} />}
      {isAdding && (
        <FactForm
          label="A new fact"
          fact={{ content: "", category: "context", confidence: 1 }}
          onClose={() => setAdding(false)}
          onSave={(body) => change(() => ask("POST /api/memory/facts", { body }))}
        />
      )}
      {memory.value !== null && facts.length === 0 && !isAdding && (
        <Nothing onAdd={() => setAdding(true)} onImport={choose} />
      )}
      {found.length > 1 && (
        <Categories groups={found} chosen={groups === found ? null : category} onChoose={setCategory} />
      )}
      {facts.length > 0 && groups.length === 0 && <p class="dim">No fact has all of these words.</p>}
      <ul class="fact-list" aria-label="Facts">
        {groups.flatMap((group) => group.facts.map((fact) => <FactRow key={fact.id} fact={fact} change={change} />))}
      </ul>
    </section>
  );
}

function Nothing({ onAdd, onImport }: { readonly onAdd: () => void; readonly onImport: () => void }) {
  return (
    <Empty title="Nothing is remembered yet">
      <ul class="ways">
        <li class="card">
          <h2>Let it learn</h2>
          <p>Facts are learned from what is said in threads, and stand in the prompt of every later one.</p>
          <a class="button" href={addressOf("chat")}>
            Open the chat
          </a>
        </li>
        <li class="card">
          <h2>Write one down</h2>
          <p>
            A fact by hand is as sure as you say. <kbd>a</kbd> opens the form.
          </p>
          <button type="button" class="button" onClick={onAdd}>
            Write a fact
          </button>
        </li>
        <li class="card">
          <h2>Bring a document</h2>
          <p>The file that Export writes, of this store or of another one.</p>
          <button type="button" class="button" onClick={onImport}>
            Choose a file
          </button>
        </li>
      </ul>
    </Empty>
  );
}

interface CategoriesProps {
  readonly groups: readonly FactGroup[];
  /** Null: all are shown. */
  readonly chosen: string | null;
  readonly onChoose: (category: string | null) => void;
}

function Categories({ groups, chosen, onChoose }: CategoriesProps) {
  const all = groups.reduce((sum, { facts }) => sum + facts.length, 0);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a set of buttons is no set of fields
    <div class="row wrap" role="group" aria-label="Categories">
      <Chip name="all" count={all} isOn={chosen === null} onChoose={() => onChoose(null)} />
      {groups.map(({ category, facts }) => (
        <Chip
          key={category}
          name={category}
          count={facts.length}
          isOn={category === chosen}
          onChoose={() => onChoose(category)}
        />
      ))}
    </div>
  );
}

interface ChipProps {
  readonly name: string;
  readonly count: number;
  readonly isOn: boolean;
  readonly onChoose: () => void;
}

function Chip({ name, count, isOn, onChoose }: ChipProps) {
  return (
    <button type="button" class="chip" aria-pressed={isOn} onClick={onChoose}>
      <bdi>{line(name, 30)}</bdi> <span class="number dim">{grouped(count)}</span>
    </button>
  );
}

async function importText(text: string): Promise<ApiOutcome<unknown>> {
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    return await ask("POST /api/memory/import", { body });
  } catch {
    return { kind: "failed", problem: { code: "bad-json", status: null, message: "That file is not JSON." } };
  }
}
