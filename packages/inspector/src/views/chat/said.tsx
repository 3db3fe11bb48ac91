/** One message of the conversation: its words, its calls, and what can be done with it. */
import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { Form, focusNew } from "../../parts/form.tsx";
import { Picture, Prose } from "../../parts/prose.tsx";
import { addressOf } from "../../router/place.ts";
import { grouped, visible } from "../../text/format.ts";
import { artifactAddress, isPicture, uploadedIn } from "../../text/thread-file.ts";
import { CallCard } from "./call-card.tsx";
import type { SaidEntry } from "./conversation.ts";
import type { ShownPart, UiTextPart } from "./parts.ts";

export interface ChatActs {
  /** Something is under way. */
  readonly isBusy: boolean;
  edit(seq: number, prompt: string): Promise<void>;
  again(): Promise<void>;
  decide(call: string, answer: "yes" | "no", reason: string): Promise<void>;
  say(prompt: string): Promise<void>;
  /** What failed last, once more. */
  retry(): Promise<void>;
  undo(seq: number): Promise<void>;
}

interface SaidProps {
  readonly entry: SaidEntry;
  readonly threadId: string;
  readonly acts: ChatActs;
  /** Its answer can be asked for again. */
  readonly isLast: boolean;
}

export function Said({ entry, threadId, acts, isLast }: SaidProps) {
  const { role, seq, parts, origin, usage } = entry;
  const [isEditing, setEditing] = useState(false);
  const text = parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n\n");
  const isEditable = role === "user" && seq !== null && origin !== "injected";
  return (
    <article class={`chat-said said-${role}`} aria-label={`${role}${seq === null ? "" : ` #${seq}`}`}>
      <header class="row">
        <span class={`part-${role} role-dot`} aria-hidden="true" />
        <span class="who">{NAMES[role]}</span>
        {seq !== null && (
          <a class="dim mono" href={addressOf("window", threadId, { seq: String(seq) })}>
            #{seq}
          </a>
        )}
        {(origin === "aborted" || origin === "injected") && <span class="pill">{origin}</span>}
        {usage !== null && (
          <span class="dim small number cut wide">
            {grouped(usage.input)} in · {grouped(usage.output)} out · {usage.model}
          </span>
        )}
        <span class="said-acts row push">
          {isEditable && !isEditing && (
            <button type="button" class="button plain" disabled={acts.isBusy} onClick={() => setEditing(true)}>
              Edit<span class="hidden"> #{seq}</span>
            </button>
          )}
          {isLast && (
            <button type="button" class="button plain" disabled={acts.isBusy} onClick={() => void acts.again()}>
              Answer again
            </button>
          )}
        </span>
      </header>
      {isEditing ? (
        <EditForm text={text} onCancel={() => setEditing(false)} onSend={(prompt) => acts.edit(seq!, prompt)} />
      ) : (
        parts.map((part, index) => (
          <Part key={part.kind === "call" ? part.id : index} part={part} seq={seq} threadId={threadId} acts={acts} />
        ))
      )}
    </article>
  );
}

const NAMES = { user: "You", assistant: "Assistant", system: "System", tool: "Tool" } as const;

interface PartProps {
  readonly part: ShownPart;
  readonly seq: number | null;
  readonly threadId: string;
  readonly acts: ChatActs;
}

function Part({ part, seq, threadId, acts }: PartProps) {
  switch (part.kind) {
    case "text":
      return <LongText part={part} seq={seq} threadId={threadId} />;
    case "reasoning":
      return part.text === "" ? null : (
        <details class="fold">
          <summary>Thinking</summary>
          <LongText part={part} seq={seq} threadId={threadId} />
        </details>
      );
    case "call":
      return <CallCard part={part} acts={acts} />;
    case "image":
      return part.url === null ? (
        <p class="dim">A picture ({part.mediaType})</p>
      ) : (
        <Picture address={part.url} alt={`Attached ${part.mediaType}`} />
      );
    case "file":
      return (
        <p class="dim">
          {part.name} ({part.mediaType})
        </p>
      );
    case "other":
      return (
        <details class="fold">
          <summary>{part.name}</summary>
          <pre>{part.text}</pre>
        </details>
      );
  }
}

/** So much of a text is drawn at once. */
const MOST_SHOWN = 20_000;
/** And so much when one asks for it: a browser has to lay all of it out. */
const MOST_WHOLE = 200_000;

function LongText({ part, seq, threadId }: { readonly part: UiTextPart } & Omit<PartProps, "part" | "acts">) {
  const [whole, setWhole] = useState<string | null>(null);
  const chars = part.chars ?? part.text.length;
  const { text, paths } = uploadedIn(whole ?? part.text.slice(0, MOST_SHOWN));
  const drawn = (whole ?? part.text).slice(0, whole === null ? MOST_SHOWN : MOST_WHOLE).length;
  const show = async () => {
    if (part.chars === undefined || seq === null) return setWhole(part.text.slice(0, MOST_WHOLE));
    const query = { before: seq + 1, limit: 1, whole: "true" } as const;
    const page = await ask("GET /api/threads/{id}/transcript", { params: { id: threadId }, query });
    if (page.kind === "failed") return setWhole(`${part.text}\n\n(${page.problem.message})`);
    const parts = (page.value.entries[0]?.["parts"] ?? []) as readonly { kind: string; text?: string }[];
    setWhole((parts.find(({ kind }) => kind === part.kind)?.text ?? part.text).slice(0, MOST_WHOLE));
  };
  return (
    <>
      <Prose text={text} threadId={threadId} />
      {paths.length > 0 && <Uploads threadId={threadId} paths={paths} />}
      {chars > drawn && (
        <p class="row dim small">
          {grouped(drawn)} of {grouped(chars)} characters
          {whole === null && (
            <button type="button" class="button" onClick={() => void show()}>
              Show {chars > MOST_WHOLE ? `the first ${grouped(MOST_WHOLE)}` : "all of it"}
            </button>
          )}
        </p>
      )}
    </>
  );
}

/** What came with a message: pictures are shown, other files are named; each can be saved. */
function Uploads({ threadId, paths }: { readonly threadId: string; readonly paths: readonly string[] }) {
  return (
    <ul class="row wrap uploads" aria-label="Files with this message">
      {paths.map((path) => {
        const name = visible(path.slice(path.lastIndexOf("/") + 1));
        const address = artifactAddress(threadId, path);
        if (address === null) return <li key={path}>{name}</li>;
        return (
          <li key={path}>
            <a class="upload small" href={address} download={name}>
              {isPicture(path) ? <Picture address={address} alt={name} /> : <span>{name}</span>}
            </a>
          </li>
        );
      })}
    </ul>
  );
}

interface EditFormProps {
  readonly text: string;
  readonly onCancel: () => void;
  readonly onSend: (prompt: string) => Promise<void>;
}

function EditForm({ text, onCancel, onSend }: EditFormProps) {
  const [prompt, setPrompt] = useState(text);
  const send = () => {
    if (prompt.trim() !== "") void onSend(prompt);
  };
  return (
    <Form class="edit-form" onSend={send} onEscape={onCancel}>
      <textarea
        class="field"
        aria-label="Your message, edited"
        value={prompt}
        ref={focusNew}
        onInput={(event) => setPrompt(event.currentTarget.value)}
      />
      <div class="row">
        <span class="dim small">Asked in a fork; this thread stays as it is.</span>
        <button type="button" class="button push" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="button hot" disabled={prompt.trim() === ""}>
          Send
        </button>
      </div>
    </Form>
  );
}
