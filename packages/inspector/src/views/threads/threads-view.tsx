/** All threads: found, opened, imported by dropping a file, deleted. */
import { useComputed } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, type Problem } from "../../api/ask.ts";
import { forgetThread, isEveryThread, threads, threadsProblem } from "../../api/threads.ts";
import { useActions } from "../../keyboard/actions.ts";
import { Question } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { contentOf } from "../../parts/file-content.ts";
import { useFileDrop } from "../../parts/file-drop.ts";
import { ProblemNote } from "../../parts/problem.tsx";
import { ThreadList } from "../../parts/thread-list.tsx";
import { branchesOf, idOfFile, nameOf } from "../../parts/tree.ts";
import { go, place, select } from "../../router/navigate.ts";
import { addressOf } from "../../router/place.ts";
import { grouped } from "../../text/format.ts";
import { Found } from "./found.tsx";

export function ThreadsView() {
  const [chosen, setChosen] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isAsking, setAsking] = useState(false);
  const branches = useComputed(() => branchesOf(threads.value.values()));
  const field = useRef<HTMLInputElement>(null);
  const { find } = place.value.query;
  useEffect(() => {
    if (find !== undefined) field.current?.focus();
  }, [find === undefined]);
  const take = async (files: FileList | null | undefined) => {
    for (const file of files ?? []) setProblem(await imported(file));
  };
  const { isOver, listeners } = useFileDrop(take);
  const thread = chosen === null ? undefined : threads.value.get(chosen);
  const remove = async () => {
    setAsking(false);
    const outcome = await ask("DELETE /api/threads/{id}", { params: { id: thread!.id } });
    setProblem(outcome.kind === "failed" ? outcome.problem : null);
    if (outcome.kind === "ok") forgetThread(thread!.id);
  };
  useActions(
    thread === undefined
      ? []
      : [
          { name: "Delete the chosen thread…", key: "d", run: () => setAsking(true) },
          { name: "Open the chosen thread", key: "o", run: () => go("window", thread.id) },
        ],
    thread?.id ?? "",
  );
  return (
    <section class={`threads-view ${isOver ? "over" : ""}`} aria-label="Threads" {...listeners}>
      <div class="row wrap">
        <h1>Threads</h1>
        <span class="dim number">{isEveryThread.value ? grouped(threads.value.size) : ""}</span>
        <input
          ref={field}
          class="field push search"
          type="search"
          aria-label="Search everything ever said"
          placeholder="Search everything ever said  /"
          value={find ?? ""}
          onInput={({ currentTarget: { value } }) => select(value === "" ? {} : { find: value })}
        />
        <label class="button file">
          Import…
          <input
            class="hidden"
            type="file"
            multiple
            onChange={({ currentTarget }) => {
              void take(currentTarget.files).then(() => {
                currentTarget.value = "";
              });
            }}
          />
        </label>
        {thread !== undefined && (
          <a class="button hot open" href={addressOf("window", thread.id)}>
            Open
          </a>
        )}
        <button type="button" class="button" disabled={thread === undefined} onClick={() => setAsking(true)}>
          Delete…
        </button>
      </div>
      {problem !== null && <ProblemNote problem={problem} />}
      {threadsProblem.value !== null && <ProblemNote problem={threadsProblem.value} />}
      {find !== undefined && find.trim() !== "" ? (
        <Found question={find} />
      ) : threads.value.size === 0 && isEveryThread.value ? (
        <Nothing />
      ) : (
        <div class="card flush fill">
          <ThreadList
            branches={branches.value}
            chosen={chosen}
            now={new Date()}
            onChoose={(id) => {
              if (chosen === id) go("window", id);
              setChosen(id);
            }}
            onOpen={(id) => go("window", id)}
          />
        </div>
      )}
      {isAsking && thread !== undefined && (
        <Question
          title={`Delete “${nameOf(thread)}”?`}
          yes="Delete for good"
          danger
          onYes={() => void remove()}
          onClose={() => setAsking(false)}
        >
          <p>
            Its {grouped(thread.messages)} messages, its files, its sub-agents' threads and what names it in memory go
            with it. Forks keep what they share. This can't be taken back.
          </p>
        </Question>
      )}
    </section>
  );
}

function Nothing() {
  return (
    <Empty title="No threads yet">
      <p>
        Say something in the{" "}
        <a class="link" href={addressOf("chat")}>
          chat
        </a>
        , or drop a file here: messages of OpenAI, Anthropic or the AI SDK as JSON or JSON lines, a session of Claude
        Code or Codex, an export of ChatGPT or Claude, a zip archive of such files.
      </p>
      <p>
        A client of yours gets here by its <code>base_url</code>: <code>{`${location.origin}/v1`}</code>
      </p>
    </Empty>
  );
}

/** What is wrong with it; null: it is a thread now. */
async function imported(file: File): Promise<Problem | null> {
  const body = await contentOf(file).catch(() => null);
  if (body === null) return { code: "unreadable", status: null, message: `${file.name} can't be read.` };
  const id = idOfFile(file.name, new Set(threads.peek().keys()));
  const outcome = await ask("POST /api/threads/{id}/import", { params: { id }, body });
  if (outcome.kind === "failed") return { ...outcome.problem, message: `${file.name}: ${outcome.problem.message}` };
  const made = outcome.value.threads;
  // Of several conversations none is the one: they are in the list.
  if (made.length === 1 || made[0]?.thread === id) go("window", made[0]!.thread);
  return null;
}
