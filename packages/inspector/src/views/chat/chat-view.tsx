/** Talking to a thread: its conversation, what can be done with it, and the window always in sight. */
import { useComputed } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type ApiProblem, ask } from "../../api/ask.ts";
import { isEveryThread, nameForNow, threads } from "../../api/threads.ts";
import { useActions } from "../../keyboard/actions.ts";
import { ContextBar } from "../../parts/context-bar.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { go, place } from "../../router/navigate.ts";
import { addressOf } from "../../router/place.ts";
import { ago, line } from "../../text/format.ts";
import { Act } from "./act.tsx";
import { Composer } from "./composer.tsx";
import { firstWords, lastTurn } from "./conversation.ts";
import { handOver, takeOver } from "./hand-over.ts";
import { type ChatActs, Said } from "./said.tsx";
import { PageChatSession } from "./session.ts";
import { takenBack } from "./taken-back.ts";

export function ChatView() {
  const { id } = place.value;
  return id === null ? <NewChat /> : <Chat key={id} threadId={id} />;
}

/** The thread is made with the first message. */
function NewChat() {
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const recent = useComputed(() =>
    [...threads.value.values()]
      .filter(({ kind }) => kind === "main")
      .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
      .slice(0, 5),
  ).value;
  const made = useRef<string | null>(null);
  const begin = async (): Promise<string | null> => {
    if (made.current !== null) return made.current;
    const thread = await ask("POST /api/threads", { body: {} });
    if (thread.kind === "ok") made.current = thread.value.id;
    else setProblem(thread.problem);
    return made.current;
  };
  return (
    <div class="chat is-new">
      <h1 class="hidden">New chat</h1>
      <div class="chat-log">
        <Empty title="A new conversation">
          <p>Say something below. The thread is made with your first message, and everything in it can be inspected.</p>
          {recent.length > 0 && <p>Or go on with:</p>}
          {recent.length > 0 && (
            <ul class="recent" aria-label="Recent threads">
              {recent.map(({ id, title, updatedAt }) => (
                <li key={id}>
                  <a class="row" href={addressOf("chat", id)}>
                    <span class="cut">{title ?? id}</span>
                    <span class="dim small push nowrap">{ago(updatedAt, new Date())}</span>
                  </a>
                </li>
              ))}
            </ul>
          )}
        </Empty>
      </div>
      {problem !== null && <ProblemNote problem={problem} />}
      <Composer
        isNew
        threadOf={begin}
        isRunning={false}
        onStop={() => {}}
        onSay={async (run) => {
          const threadId = await begin();
          if (threadId === null) return "kept";
          handOver(threadId, run);
          nameForNow(threadId, line(run.prompt ?? "", 60));
          go("chat", threadId);
          return "said";
        }}
      />
    </div>
  );
}

function Chat({ threadId }: { readonly threadId: string }) {
  const session = useMemo(() => new PageChatSession(threadId), [threadId]);
  const row = useComputed(() => threads.value.get(threadId) ?? null).value;
  const [first] = useState(() => takeOver(threadId));
  useEffect(() => {
    void session.load().then(() => {
      if (first !== null) void session.start(first);
    });
    return () => session.close();
  }, [session]);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const acts = useActs(session, setProblem);
  const isRunning = session.status.value === "running";
  // Others write to it, or delete it, while one looks.
  useEffect(() => {
    void session.refresh();
  }, [row?.messages, row?.updatedAt, row?.run, row === null && isEveryThread.value]);
  const failure = session.problem.value;
  if (failure !== null && session.conversation.value.entries.length === 0)
    return (
      <div class="chat is-new">
        <h1 class="cut">{line(threadId, 80)}</h1>
        <ProblemNote problem={failure} retry={() => void session.load()} />
        <p>
          <a class="link" href="/threads">
            All threads
          </a>{" "}
          or{" "}
          <a class="link" href="/chat">
            a new chat
          </a>
        </p>
      </div>
    );
  return (
    <div class="chat">
      <header class="row wrap">
        <h1 class="cut">{line(row?.title ?? firstWords(session.conversation.value) ?? threadId, 80)}</h1>
        <nav class="row push" aria-label="This thread">
          <a class="button" href={addressOf("window", threadId)}>
            Window
          </a>
          <a class="button" href={addressOf("timeline", threadId)}>
            Timeline
          </a>
          <a class="button" href="/chat">
            New chat
          </a>
        </nav>
      </header>
      <Log session={session} acts={acts} />
      {failure !== null && <ProblemNote problem={failure} retry={() => void session.load()} />}
      {problem !== null && <ProblemNote problem={problem} />}
      <ContextBar context={session.context.value} />
      <Composer
        isNew={first?.prompt !== undefined}
        threadOf={async () => threadId}
        isRunning={isRunning}
        onStop={() => void session.stop()}
        onSay={async (run) => {
          setProblem(null);
          void session.start(run);
          return "said";
        }}
      />
    </div>
  );
}

function Log({ session, acts }: { readonly session: PageChatSession; readonly acts: ChatActs }) {
  const { entries, before } = session.conversation.value;
  const status = session.status.value;
  const box = useRef<HTMLElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const isAtEnd = useRef(true);
  const top = useRef(0);
  const last = useComputed(() => lastTurn(session.conversation.value)).value;
  const undone = takenBack(entries);
  // A reader further up is not moved. An entry has its true height only once it is drawn, so the end moves by itself.
  useLayoutEffect(() => {
    const toEnd = () => {
      if (isAtEnd.current) box.current!.scrollTop = box.current!.scrollHeight;
    };
    toEnd();
    const observer = new ResizeObserver(toEnd);
    // The box shrinks where what stands around it grows.
    for (const one of [list, box]) observer.observe(one.current!);
    return () => observer.disconnect();
  }, [entries]);
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = box.current!;
    if (scrollHeight - scrollTop - clientHeight < 60) isAtEnd.current = true;
    else if (scrollTop < top.current) isAtEnd.current = false;
    top.current = scrollTop;
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
    <section class="chat-log" ref={box} onScroll={onScroll} tabIndex={0} aria-label="Conversation">
      {before !== null && (
        <button type="button" class="button" onClick={() => void session.older()}>
          Show earlier
        </button>
      )}
      {entries.length === 0 && status === "idle" && (
        <Empty title="Nothing was said here yet">
          <p>Your first message begins it.</p>
        </Empty>
      )}
      <ol class="said-list" ref={list}>
        {entries.map((entry) => (
          <li key={entry.key} class="chat-entry">
            {entry.kind === "said" ? (
              <Said
                entry={entry}
                threadId={session.threadId}
                acts={acts}
                isLast={entry.seq !== null && entry.seq === last?.answer}
              />
            ) : (
              <Act entry={entry} threadId={session.threadId} acts={acts} undone={undone} />
            )}
          </li>
        ))}
      </ol>
      <p class="hidden" role="status">
        {status === "running" ? "Answering" : status === "loading" ? "Loading" : "Ready"}
      </p>
      {status === "running" && <span class="thinking" aria-hidden="true" />}
    </section>
  );
}

/** What a person can do in the conversation. Whatever changes the past does it in a fork. */
function useActs(session: PageChatSession, tell: (problem: ApiProblem | null) => void): ChatActs {
  const forked = async (at: number, run: Parameters<typeof handOver>[1]) => {
    const fork = await session.fork(at);
    tell(fork.kind === "failed" ? fork.problem : null);
    if (fork.kind === "failed") return;
    handOver(fork.value.thread, run);
    go("chat", fork.value.thread);
  };
  const acts: ChatActs = {
    isBusy: session.status.value !== "idle",
    edit: (seq, prompt) => forked(seq - 1, { prompt }),
    again: async () => {
      const turn = lastTurn(session.conversation.peek());
      if (turn !== null) await forked(turn.question, {});
    },
    decide: (call, answer, reason) => session.decide(call, answer, reason),
    say: (prompt) => session.start({ prompt }),
    retry: () => session.retry(),
    async undo(seq) {
      const undone = await ask("POST /api/threads/{id}/undo", { params: { id: session.threadId }, body: { seq } });
      tell(undone.kind === "failed" ? undone.problem : null);
      await session.refresh();
    },
  };
  useActions(
    [
      { name: "Answer again, in a fork", key: "r", run: () => void acts.again() },
      { name: "Stop the answer", key: "x", run: () => void session.stop() },
    ],
    session.threadId,
  );
  return acts;
}
