/** All threads: found, opened, imported by dropping a file, deleted. */
import { useComputed } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type ApiProblem, ask } from "../../api/ask.ts";
import { threadFacts, wantThreadFacts } from "../../api/thread-facts.ts";
import { forgetThread, isEveryThread, threads, threadsProblem } from "../../api/threads.ts";
import { useActions } from "../../keyboard/actions.ts";
import { Question } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { contentOf } from "../../parts/file-content.ts";
import { chooseFiles, useFileDrop } from "../../parts/file-drop.ts";
import { ProblemNote } from "../../parts/problem.tsx";
import { heightOfThreads, ThreadHeads, ThreadList } from "../../parts/thread-list.tsx";
import { branchesOf, filtered, idOfFile, nameOf } from "../../parts/tree.ts";
import { go, place, select } from "../../router/navigate.ts";
import { addressOf } from "../../router/place.ts";
import { grouped, visible } from "../../text/format.ts";
import type { ThreadRowText } from "../../text/thread-row.ts";
import { Beginnings } from "./beginnings.tsx";
import { Found } from "./found.tsx";
import { RenameDialog } from "./rename-dialog.tsx";

export function ThreadsView() {
  const [chosen, setChosen] = useState<string | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  /** Its valid lines can still be imported. */
  const [refused, setRefused] = useState<File | null>(null);
  const [asking, setAsking] = useState<"delete" | "rename" | null>(null);
  const [filter, setFilter] = useState("");
  const branches = useComputed(() => branchesOf(threads.value.values()));
  const field = useRef<HTMLInputElement>(null);
  const { find } = place.value.query;
  // Before the next key comes: it is meant for the field.
  useLayoutEffect(() => {
    if (find !== undefined) field.current?.focus();
  }, [find === undefined]);
  const take = async (files: FileList | null | undefined) => {
    for (const file of files ?? []) {
      const refusal = await imported(file);
      setProblem(refusal);
      setRefused(refusal?.code === "invalid-messages" ? file : null);
    }
  };
  const takeValid = async (file: File) => {
    setRefused(null);
    setProblem(await imported(file, "skip"));
  };
  const choose = () => chooseFiles(take);
  const { isOver, listeners } = useFileDrop(take);
  const shown = filtered(branches.value, filter);
  const isEmpty = threads.value.size === 0 && isEveryThread.value;
  const thread = chosen === null ? undefined : threads.value.get(chosen);
  const remove = async () => {
    setAsking(null);
    const outcome = await ask("DELETE /api/threads/{id}", { params: { id: thread!.id } });
    setProblem(outcome.kind === "failed" ? outcome.problem : null);
    if (outcome.kind === "ok") forgetThread(thread!.id);
  };
  useThreadActions(thread, setAsking, choose);
  return (
    <section class={`threads-view ${isOver ? "over" : ""}`} aria-label="Threads" {...listeners}>
      <div class="row wrap">
        <h1>Threads</h1>
        <span class="dim number grow">{isEveryThread.value ? grouped(threads.value.size) : ""}</span>
        {!isEmpty && !find && <Filter value={filter} onInput={setFilter} />}
        <input
          ref={field}
          id="search"
          class="field search"
          type="search"
          aria-label="Search everything ever said"
          placeholder="Search everything ever said  /"
          value={find ?? ""}
          onInput={({ currentTarget: { value } }) => select(value === "" ? {} : { find: value })}
        />
        <button type="button" class="button" onClick={choose}>
          Import…
        </button>
        <a class="button hot open" href={addressOf("chat")}>
          New chat
        </a>
      </div>
      {thread !== undefined && <ThreadActs thread={thread} onAsk={setAsking} />}
      {problem !== null && <ProblemNote problem={problem} />}
      {refused !== null && (
        <p>
          <button type="button" class="button" onClick={() => void takeValid(refused)}>
            Import its valid lines
          </button>
        </p>
      )}
      {threadsProblem.value !== null && <ProblemNote problem={threadsProblem.value} />}
      {find !== undefined && find.trim() !== "" ? (
        <Found question={find} />
      ) : isEmpty ? (
        <Beginnings />
      ) : (
        <div class="card flush fill thread-table" style={{ maxHeight: `${heightOfThreads(shown.length)}px` }}>
          {shown.length === 0 && isEveryThread.value && <Empty title="No thread is called that" />}
          {shown.length > 0 && <ThreadHeads />}
          <ThreadList
            facts={threadFacts.value}
            onSight={wantThreadFacts}
            branches={shown}
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
      {asking === "rename" && thread !== undefined && (
        <RenameDialog key={thread.id} thread={thread} onClose={() => setAsking(null)} />
      )}
      {asking === "delete" && thread !== undefined && (
        <Question
          title={`Delete “${visible(nameOf(thread))}”?`}
          yes="Delete for good"
          danger
          onYes={() => void remove()}
          onClose={() => setAsking(null)}
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

function useThreadActions(
  chosen: ThreadRowText | undefined,
  ask: (question: "delete" | "rename") => void,
  chooseFile: () => void,
): void {
  const ofChosen = (id: string) => [
    { name: "Open the chosen thread", key: "o", run: () => go("window", id) },
    { name: "Rename the chosen thread…", key: "e", run: () => ask("rename") },
    { name: "Delete the chosen thread…", key: "d", run: () => ask("delete") },
  ];
  useActions(
    [
      { name: "Start a chat", key: "n", run: () => go("chat", null) },
      { name: "Import a file…", key: "i", run: chooseFile },
      ...(chosen === undefined ? [] : ofChosen(chosen.id)),
    ],
    chosen?.id ?? "",
  );
}

function Filter({ value, onInput }: { readonly value: string; readonly onInput: (value: string) => void }) {
  return (
    <input
      class="field filter"
      aria-label="Filter by name or id"
      placeholder="Filter by name or id"
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

interface ThreadActsProps {
  readonly thread: ThreadRowText;
  readonly onAsk: (question: "delete" | "rename") => void;
}

/** What can be done with the one that is chosen. */
function ThreadActs({ thread, onAsk }: ThreadActsProps) {
  const exported = `/api/threads/${encodeURIComponent(thread.id)}/messages?as=jsonl`;
  return (
    <div class="row wrap chosen-thread">
      <span class="cut" dir="auto">
        {visible(nameOf(thread))}
      </span>
      <a class="button hot open push" href={addressOf("window", thread.id)}>
        Open
      </a>
      <a class="button open" href={addressOf("chat", thread.id)}>
        Chat
      </a>
      <button type="button" class="button" onClick={() => onAsk("rename")}>
        Rename…
      </button>
      <a class="button open" href={exported} download={`${thread.id}.jsonl`}>
        Export
      </a>
      <button type="button" class="button" onClick={() => onAsk("delete")}>
        Delete…
      </button>
    </div>
  );
}

/** What is wrong with it; null: it is a thread now. */
async function imported(file: File, invalid: "refuse" | "skip" = "refuse"): Promise<ApiProblem | null> {
  const body = await contentOf(file).catch(() => null);
  if (body === null) return { code: "unreadable", status: null, message: `${file.name} can't be read.` };
  const id = idOfFile(file.name, new Set(threads.peek().keys()));
  const outcome = await ask("POST /api/threads/{id}/import", {
    params: { id },
    body,
    ...(invalid === "skip" && { query: { skipInvalid: "true" as const } }),
  });
  if (outcome.kind === "failed") return { ...outcome.problem, message: `${file.name}: ${outcome.problem.message}` };
  const made = outcome.value.threads;
  // Of several conversations none is the one: they are in the list.
  if (made.length === 1 || made[0]?.thread === id) go("window", made[0]!.thread);
  return null;
}
