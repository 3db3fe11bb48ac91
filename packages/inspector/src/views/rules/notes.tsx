/** The notes of a thread, each with its revision: a write names the revision that was read. */
import { useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { type ApiProblem, type AskAnswer, ask } from "../../api/ask.ts";
import { useThreadChange } from "../../api/threads.ts";
import { Empty } from "../../parts/empty.tsx";
import { Form, focusNew } from "../../parts/form.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { Prose } from "../../parts/prose.tsx";
import { addressOf } from "../../router/place.ts";
import { ago, grouped, visible } from "../../text/format.ts";

type NoteFacts = AskAnswer<"GET /api/threads/{id}/notes">["notes"][number];

const MOST_NOTES = 8;

export function NotesCard({ id }: { readonly id: string }) {
  const { value, problem, reload } = useAnswer(`notes ${id}`, () =>
    ask("GET /api/threads/{id}/notes", { params: { id } }),
  );
  useThreadChange(id, reload);
  const [isNew, setNew] = useState(false);
  const notes = value?.notes ?? [];
  return (
    <section class="card stack" aria-label="Notes">
      <div class="row wrap">
        <h2 class="title">Notes</h2>
        <span class="dim number">
          {grouped(notes.length)} of at most {MOST_NOTES}
        </span>
        {notes.length < MOST_NOTES && !isNew && value !== null && (
          <button type="button" class="button push" onClick={() => setNew(true)}>
            New note
          </button>
        )}
      </div>
      {problem !== null && <ProblemNote problem={problem} retry={reload} />}
      {isNew && (
        <NoteForm
          id={id}
          note={null}
          onDone={() => {
            setNew(false);
            reload();
          }}
          onCancel={() => setNew(false)}
        />
      )}
      {value !== null && notes.length === 0 && !isNew && (
        <Empty title="No notes yet">
          <p>The model's own notebook for a task: notes outlive a window. You may write one, too.</p>
        </Empty>
      )}
      {notes.map((note) => (
        <NoteCard key={note.name} id={id} note={note} onChange={reload} />
      ))}
    </section>
  );
}

interface NoteCardProps {
  readonly id: string;
  readonly note: NoteFacts;
  readonly onChange: () => void;
}

function NoteCard({ id, note, onChange }: NoteCardProps) {
  const [isEditing, setEditing] = useState(false);
  const { name, text, revision, by, at, cites } = note;
  return (
    <article class="said note" aria-label={`Note ${visible(name)}`}>
      <header class="row wrap dim small">
        <strong class="note-name cut">{visible(name)}</strong>
        <span class="number">revision {grouped(revision)}</span>
        <span>by the {by}</span>
        <span>{ago(at, new Date())}</span>
        {cites.slice(0, 12).map((seq) => (
          <a key={seq} class="link mono" href={addressOf("window", id, { seq: String(seq) })}>
            #{seq}
          </a>
        ))}
        {!isEditing && (
          <button type="button" class="button plain push" onClick={() => setEditing(true)}>
            Edit<span class="hidden"> {visible(name)}</span>
          </button>
        )}
      </header>
      {isEditing ? (
        <NoteForm
          id={id}
          note={note}
          onDone={() => {
            setEditing(false);
            onChange();
          }}
          onCancel={() => setEditing(false)}
        />
      ) : (
        <Prose text={text} />
      )}
    </article>
  );
}

interface NoteFormProps {
  readonly id: string;
  /** Null: a new one. */
  readonly note: NoteFacts | null;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** What was typed stays if another writer was faster: the problem says so. */
function NoteForm({ id, note, onDone, onCancel }: NoteFormProps) {
  // The revision that was read when the form was opened, whatever comes in behind it.
  const [read] = useState(note?.revision ?? 0);
  const [name, setName] = useState(note?.name ?? "");
  const [text, setText] = useState(note?.text ?? "");
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const write = async (words: string) => {
    const body = { name: name.trim(), text: words, revision: read };
    const outcome = await ask("POST /api/threads/{id}/notes", { params: { id }, body });
    if (outcome.kind === "failed") setProblem(outcome.problem);
    else onDone();
  };
  return (
    <Form class="stack" onSend={() => write(text)}>
      {note === null && (
        <input
          ref={focusNew}
          class="field"
          aria-label="Name of the note"
          placeholder="A name, such as: plan"
          required
          maxLength={40}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      )}
      <textarea
        ref={note === null ? null : focusNew}
        class="field"
        aria-label="Text of the note"
        placeholder="Text, as Markdown"
        rows={6}
        required
        maxLength={16_384}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {problem !== null && <ProblemNote problem={problem} />}
      <div class="row">
        <button type="submit" class="button hot" disabled={text.trim() === "" || name.trim() === ""}>
          Save
        </button>
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
        {note !== null && (
          <button type="button" class="button bad push" onClick={() => void write("")}>
            Delete note
          </button>
        )}
      </div>
    </Form>
  );
}
