/**
 * One thread that is being talked to: what is shown, the run that is followed, and everything a person can do there. The
 * views only draw it. What fails is shown where it was asked for; nothing here throws.
 */
import { type Signal, signal } from "@preact/signals";
import type { FollowedRun, NewRun } from "palimpsest/client";
import { type ApiOutcome, type ApiProblem, type AskAnswer, ask, client, problemOf } from "../../api/ask.ts";
import {
  EMPTY,
  fromTranscript,
  inCall,
  type PageChat,
  withEvent,
  withNewest,
  withOlder,
  withoutProblems,
  withProblem,
  withPrompt,
} from "./conversation.ts";
import type { PageAgentEvent } from "./events.ts";
import { askedPart } from "./parts.ts";

type ChatStatus = "loading" | "idle" | "running";
type ChatContext = AskAnswer<"GET /api/threads/{id}/context">;
type Page = AskAnswer<"GET /api/threads/{id}/transcript">;

export class PageChatSession {
  readonly threadId: string;
  readonly conversation: Signal<PageChat> = signal<PageChat>(EMPTY);
  readonly status: Signal<ChatStatus> = signal<ChatStatus>("loading");
  readonly context: Signal<ChatContext | null> = signal<ChatContext | null>(null);
  /** Why it can't be shown. */
  readonly problem: Signal<ApiProblem | null> = signal<ApiProblem | null>(null);
  readonly #params: { readonly id: string };
  readonly #closed = new AbortController();
  readonly #events = inFrames<PageAgentEvent>((batch) => this.#change((now) => batch.reduce(withEvent, now)));
  #run: FollowedRun | null = null;
  #again: NewRun = {};

  constructor(threadId: string) {
    this.threadId = threadId;
    this.#params = { id: threadId };
  }

  async load(): Promise<void> {
    this.status.value = "loading";
    const run = await this.#read((_, page) => fromTranscript(page));
    this.status.value = "idle";
    this.#goOn(run);
  }

  /** Something else has written to the thread. */
  async refresh(): Promise<void> {
    if (this.status.peek() !== "idle") return;
    const run = await this.#read(withNewest);
    if (this.status.peek() === "idle") this.#goOn(run);
  }

  async older(): Promise<void> {
    const { before } = this.conversation.peek();
    if (before === null) return;
    const page = await ask("GET /api/threads/{id}/transcript", { params: this.#params, query: { before } });
    if (page.kind === "ok") this.#change((now) => withOlder(now, page.value));
    else this.#tell(page.problem);
  }

  /** Its prompt is shown at once. */
  async start(run: NewRun): Promise<void> {
    const { prompt } = run;
    this.#again = run;
    if (prompt !== undefined) this.#change((now) => withPrompt(now, prompt));
    // An answer that has just ended may still be let go of: what is said next waits for it instead of being refused.
    const next: NewRun = { ...run, multitask: "wait" };
    await this.#follow(() => client.run(this.threadId, next, { signal: this.#closed.signal }));
  }

  /** The last run once more; what was said with it is said again only if the thread doesn't have it. */
  async retry(): Promise<void> {
    this.#change(withoutProblems);
    await this.start(this.#again);
  }

  async stop(): Promise<void> {
    await this.#run?.cancel().catch(() => {});
  }

  async decide(call: string, answer: "yes" | "no", reason: string): Promise<void> {
    const body = { call, answer, ...(reason !== "" && { reason }) };
    const decided = await ask("POST /api/threads/{id}/approve", { params: this.#params, body });
    if (decided.kind === "failed") return this.#tell(decided.problem);
    const state = answer === "yes" ? ("running" as const) : ("denied" as const);
    this.#change((now) => inCall(now, call, (part) => ({ ...part, state })));
    // Once no approval is open, the agent goes on.
    if (decided.value.open.length === 0) await this.start({});
  }

  /** A new thread that shares this one's past up to a record. */
  fork(at: number): Promise<ApiOutcome<AskAnswer<"POST /api/threads/{id}/fork">>> {
    return ask("POST /api/threads/{id}/fork", { params: this.#params, body: { at } });
  }

  close(): void {
    this.#closed.abort();
  }

  #change(change: (now: PageChat) => PageChat): void {
    this.conversation.value = change(this.conversation.peek());
  }

  #tell({ message, code }: ApiProblem): void {
    this.#change((now) => withProblem(now, message, code));
  }

  async #weigh(): Promise<void> {
    const weighed = await ask("GET /api/threads/{id}/context", { params: this.#params });
    if (weighed.kind === "ok") this.context.value = weighed.value;
  }

  /** The run that is under way, if one is. */
  async #read(take: (now: PageChat, page: Page) => PageChat): Promise<string | null> {
    const page = await ask("GET /api/threads/{id}/transcript", { params: this.#params });
    this.problem.value = page.kind === "failed" ? page.problem : null;
    if (page.kind === "failed") return null;
    this.#change((now) => take(now, page.value));
    void this.#weigh();
    const asked = await ask("GET /api/threads/{id}/approvals", { params: this.#params });
    for (const { id, answer, input } of asked.kind === "ok" ? asked.value.approvals : [])
      this.#change((now) => inCall(now, id, (part) => askedPart(part, input, answer === null ? "waiting" : "running")));
    return page.value.run;
  }

  #goOn(run: string | null): void {
    if (run !== null) void this.#follow(() => client.follow(run, { signal: this.#closed.signal }));
  }

  async #follow(open: () => Promise<FollowedRun>): Promise<void> {
    this.status.value = "running";
    try {
      this.#run = await open();
      for await (const event of this.#run) {
        this.#events.add(event as PageAgentEvent);
        // From here on the thread has what was said.
        if (event.type === "message-append") this.#again = withoutPrompt(this.#again);
        if (WEIGHED.has(event.type)) void this.#weigh();
      }
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      this.#events.flush();
      const problem = problemOf(error);
      // Who needs a key is asked for one by the frame.
      if (problem.status === 401) await ask("GET /api/user");
      this.#tell(problem);
    } finally {
      this.#run = null;
    }
    this.#events.flush();
    await this.#read(withNewest);
    this.status.value = "idle";
  }
}

function withoutPrompt({ prompt: _, ...run }: NewRun): NewRun {
  return run;
}

/** After these the window is another. */
const WEIGHED: ReadonlySet<string> = new Set(["step-end", "compaction-end"]);

/** Pieces come faster than a screen is drawn. */
function inFrames<T>(take: (batch: readonly T[]) => void) {
  let waiting: T[] = [];
  let isAsked = false;
  const flush = () => {
    isAsked = false;
    const batch = waiting;
    waiting = [];
    if (batch.length > 0) take(batch);
  };
  return {
    flush,
    add(one: T) {
      waiting.push(one);
      if (isAsked) return;
      isAsked = true;
      // A page in the background draws no frames.
      if (document.hidden) setTimeout(flush, 100);
      else requestAnimationFrame(flush);
    },
  };
}
