/**
 * A conversation as the chat shows it: what was said, each act on the log where it happened, what comes in while a run is
 * under way. Made of a transcript's pages, grown event by event. Pure: every function gives a new conversation.
 */
import { compactionWords, shortenedWords } from "../../text/compaction-words.ts";
import { grouped } from "../../text/format.ts";
import type { PageAgentEvent } from "./events.ts";
import { CALL, endedParts, type ShownPart, type UiCallPart, withStepEvent } from "./parts.ts";

export interface PageChat {
  readonly entries: readonly ChatEntry[];
  /** Of the next older page; null: everything is here. */
  readonly before: number | null;
}

type ChatEntry = SaidEntry | ActEntry;

export interface SaidEntry {
  readonly kind: "said";
  /** Stays the same while it is shown. */
  readonly key: string;
  /** Null: not in the log yet. */
  readonly seq: number | null;
  readonly role: "user" | "assistant" | "system" | "tool";
  readonly parts: readonly ShownPart[];
  /** What it was before it reached the log, where that isn't plain. */
  readonly origin: string;
  /** What the provider reported for the request that it answers. */
  readonly usage: { readonly model: string; readonly input: number; readonly output: number } | null;
}

export interface ActEntry {
  readonly kind: "act";
  readonly key: string;
  readonly seq: number | null;
  readonly act: "compaction" | "prune" | "undo" | "evidence" | "note" | "problem";
  readonly text: string;
  /** Of an undo: what it took back. */
  readonly of?: number;
  /** A second, quieter sentence. */
  readonly detail: string;
  /** It goes on. */
  readonly isOpen: boolean;
  /** To be chosen from as the next message. */
  readonly options: readonly string[];
}

/** As `GET /api/threads/{id}/transcript` gives it. */
export interface TranscriptPage {
  readonly entries: readonly { readonly seq: number; readonly kind: string; readonly [more: string]: unknown }[];
  readonly before: number | null;
  readonly children: readonly {
    readonly call: string;
    readonly agent: string;
    readonly thread: string;
    readonly status: string;
  }[];
}

export const EMPTY: PageChat = { entries: [], before: null };

export function fromTranscript({ entries, before, children }: TranscriptPage): PageChat {
  const shown: ChatEntry[] = [];
  for (const raw of entries) {
    if (raw.kind === "message") addMessage(shown, raw as unknown as RawMessage);
    else if (raw.kind === "usage") addUsage(shown, raw as unknown as RawUsage);
    else {
      const act = actOf(raw as unknown as RawAct);
      if (act !== null) shown.push(act);
    }
  }
  const child = (part: ShownPart): ShownPart => {
    if (part.kind !== "call") return part;
    const one = children.find(({ call }) => call === part.id);
    if (one === undefined) return part;
    return { ...part, child: { agent: one.agent, thread: one.thread, status: one.status, about: "", parts: [] } };
  };
  const whole = shown.map((entry) => (entry.kind === "said" ? { ...entry, parts: entry.parts.map(child) } : entry));
  return { entries: whole, before };
}

/** An older page before what is shown. */
export function withOlder(now: PageChat, page: TranscriptPage): PageChat {
  const older = fromTranscript(page);
  return { entries: [...older.entries, ...now.entries], before: older.before };
}

/** The newest page once more, when a run has ended: what it knows better replaces what was shown, under the same keys. */
export function withNewest(now: PageChat, page: TranscriptPage): PageChat {
  const fresh = fromTranscript(page);
  const first = page.entries[0]?.seq ?? 1;
  const keys = new Map(now.entries.flatMap(({ seq, key }) => (seq === null ? [] : [[seq, key] as const])));
  const older = now.entries.filter(({ seq }) => seq !== null && seq < first);
  const newest = fresh.entries.map((entry) => ({ ...entry, key: keys.get(entry.seq ?? 0) ?? entry.key }));
  // What went wrong is nowhere else.
  const problems = now.entries.filter((entry) => entry.kind === "act" && entry.act === "problem");
  return { entries: [...older, ...newest, ...problems], before: older.length > 0 ? now.before : fresh.before };
}

/** What the person says, before the gateway has it. */
export function withPrompt(now: PageChat, text: string): PageChat {
  return grown(now, said(`p${now.entries.length}`, "user", [{ kind: "text", id: "", text }]));
}

/** Before what failed is tried again. */
export function withoutProblems(now: PageChat): PageChat {
  return { ...now, entries: now.entries.filter((entry) => entry.kind !== "act" || entry.act !== "problem") };
}

export function withProblem(now: PageChat, text: string, detail = ""): PageChat {
  return grown(now, act({ key: `x${now.entries.length}`, act: "problem", text, detail }));
}

export function withEvent(now: PageChat, event: PageAgentEvent): PageChat {
  switch (event.type) {
    case "message-append":
      return appended(now, event.seq, event.role);
    case "approval-ask":
      return inCall(now, event.callId, (part) => ({ ...part, state: "waiting" }));
    case "subagent-start": {
      const { agent, threadId: thread, description: about } = event;
      return inCall(now, event.callId, (part) => ({
        ...part,
        child: { agent, thread, about, status: "running", parts: [] },
      }));
    }
    case "subagent-event":
      return inChild(now, event.callId, (child) => ({ ...child, parts: withStepEvent(child.parts, event.event) }));
    case "subagent-end":
      return inChild(now, event.callId, (child) => ({
        ...child,
        status: event.status,
        parts: endedParts(child.parts),
      }));
    case "compaction-start":
      return opened(now, {
        act: "compaction",
        text: "Compacting",
        detail: `${event.hide} messages go behind a summary`,
      });
    case "summary-progress":
      return opened(now, { act: "compaction", text: "Compacting", detail: `part ${event.done} of ${event.of}` });
    case "compaction-end":
      return compacted(now, event.outcome);
    case "overflow-recover":
      return grown(
        now,
        act({ key: `o${now.entries.length}`, act: "note", text: "The window was full: trying again, smaller" }),
      );
    case "model-retry":
      return opened(now, { act: "note", text: "The model did not answer", detail: `attempt ${event.attempt} follows` });
    case "question-ask":
      return grown(
        now,
        act({ key: `q${now.entries.length}`, act: "note", text: event.question, options: event.options }),
      );
    case "run-end":
      return ended(now, event.end);
    default:
      return withStep(now, event);
  }
}

/** The newest answer, and the question that it answers, for asking once more. */
export function lastTurn({ entries }: PageChat): { readonly question: number; readonly answer: number } | null {
  const seqOf = (role: SaidEntry["role"]) =>
    entries.findLast((entry) => entry.kind === "said" && entry.role === role && entry.seq !== null)?.seq ?? null;
  const [question, answer] = [seqOf("user"), seqOf("assistant")];
  return question !== null && answer !== null && answer > question ? { question, answer } : null;
}

/** What a thread without a title is about. */
export function firstWords({ entries }: PageChat): string | null {
  const first = entries.find((entry) => entry.kind === "said" && entry.role === "user");
  const part = first?.kind === "said" ? first.parts.find((one) => one.kind === "text") : undefined;
  return part?.kind === "text" && part.text.trim() !== "" ? part.text : null;
}

/** The calls that wait for the person. */
export function waitingCalls({ entries }: PageChat): readonly UiCallPart[] {
  return entries.flatMap((entry) =>
    entry.kind === "said" ? entry.parts.filter((part) => part.kind === "call" && part.state === "waiting") : [],
  ) as UiCallPart[];
}

interface RawMessage {
  readonly seq: number;
  readonly role: SaidEntry["role"];
  readonly origin: string;
  readonly parts: readonly RawPart[];
}

interface RawPart {
  readonly kind: string;
  readonly id?: string;
  readonly name?: string | null;
  readonly text?: string;
  readonly chars?: number;
  readonly isError?: boolean;
  readonly mediaType?: string | null;
  readonly url?: string;
  readonly type?: string;
}

interface RawUsage {
  readonly of: number;
  readonly model: string;
  readonly input: number;
  readonly output: number;
}

interface RawAct {
  readonly seq: number;
  readonly kind: string;
  readonly [more: string]: unknown;
}

/** Results stand with their calls; what answers no call of this page stands by itself. */
function addMessage(shown: ChatEntry[], { seq, role, origin, parts }: RawMessage): void {
  const own: ShownPart[] = [];
  for (const part of parts) {
    if (part.kind === "result" && settle(shown, part)) continue;
    own.push(shownPart(part));
  }
  if (own.length === 0 && parts.length > 0) return;
  shown.push({ ...said(`m${seq}`, role, own), seq, origin });
}

function settle(shown: ChatEntry[], { id, text = "", chars, isError }: RawPart): boolean {
  const at = shown.findLastIndex(
    (entry) => entry.kind === "said" && entry.parts.some((part) => part.kind === "call" && part.id === id),
  );
  if (at === -1) return false;
  const entry = shown[at] as SaidEntry;
  const parts = entry.parts.map((part) => {
    if (part.kind !== "call" || part.id !== id) return part;
    const state = isError === true ? ("failed" as const) : ("done" as const);
    return { ...part, state, output: text, outputChars: chars ?? text.length };
  });
  shown[at] = { ...entry, parts };
  return true;
}

function shownPart({ kind, id = "", name = null, text = "", chars, ...more }: RawPart): ShownPart {
  const length = chars ?? text.length;
  switch (kind) {
    case "text":
    case "reasoning":
      return { kind, id, text, ...(chars !== undefined && { chars }) };
    case "call":
      return { ...CALL, id, name: name ?? "", input: text, inputChars: length, state: "open" };
    case "image":
      return { kind, mediaType: more.mediaType ?? "", url: more.url ?? null };
    case "file":
      return { kind, mediaType: more.mediaType ?? "", name: name ?? "a file" };
    default:
      return { kind: "other", name: name ?? more.type ?? kind, text };
  }
}

function addUsage(shown: ChatEntry[], { of, model, input, output }: RawUsage): void {
  const at = shown.findLastIndex(({ seq }) => seq === of);
  const entry = shown[at];
  if (entry?.kind === "said") shown[at] = { ...entry, usage: { model, input, output } };
}

function actOf({ seq, kind, ...more }: RawAct): ActEntry | null {
  const key = `a${seq}`;
  const sizes = sizesOf(Number(more["tokensBefore"]), Number(more["tokensAfter"]));
  switch (kind) {
    case "compaction": {
      const [first, last] = more["covers"] as readonly [number, number];
      const text = `Compacted #${first} to #${last}: ${sizes}`;
      return act({ key, seq, act: kind, text, detail: compactionWords(String(more["rung"]), String(more["reason"])) });
    }
    case "prune":
      return act({ key, seq, act: kind, text: `Shortened ${more["shortened"]} parts: ${sizes}` });
    case "undo":
      return act({ key, seq, act: kind, text: `Took back #${more["of"]}`, of: Number(more["of"]) });
    case "evidence":
      return act({ key, seq, act: kind, text: `Added to #${more["of"]} from memory`, detail: String(more["text"]) });
    case "event":
      return more["event"] === "redacted" ? act({ key, seq, act: "note", text: "A message was redacted" }) : null;
    default:
      return null;
  }
}

function sizesOf(before: number, after: number): string {
  return `${grouped(before)} → ${grouped(after)} tokens`;
}

const NOT_YET = { kind: "said", seq: null, usage: null } as const;

function said(key: string, role: SaidEntry["role"], parts: readonly ShownPart[]): SaidEntry {
  return { ...NOT_YET, key, role, parts, origin: role };
}

function act(given: Partial<ActEntry> & Pick<ActEntry, "key" | "act" | "text">): ActEntry {
  return { kind: "act", seq: null, detail: "", isOpen: false, options: [], ...given };
}

function grown(now: PageChat, entry: ChatEntry): PageChat {
  return { ...now, entries: [...now.entries, entry] };
}

/** One act that goes on, whatever is told of it. */
function opened(now: PageChat, told: Pick<ActEntry, "act" | "text"> & { readonly detail: string }): PageChat {
  const last = now.entries.findLast((entry): entry is ActEntry => entry.kind === "act" && entry.isOpen);
  const entry = act({ ...told, key: last?.key ?? `c${now.entries.length}`, isOpen: true });
  return { ...now, entries: [...now.entries.filter((one) => one !== last), entry] };
}

function closed(now: PageChat): PageChat {
  return { ...now, entries: now.entries.filter((entry) => entry.kind !== "act" || !entry.isOpen) };
}

type TurnOutcome = Extract<PageAgentEvent, { type: "compaction-end" }>["outcome"];

function compacted(now: PageChat, outcome: TurnOutcome): PageChat {
  if (outcome.kind === "unchanged") return closed(now);
  const { hidden, tokensBefore, tokensAfter, rung, reason, shortened } = outcome;
  const sizes = sizesOf(tokensBefore, tokensAfter);
  const text = hidden === null ? `Shortened: ${sizes}` : `Compacted #${hidden[0]} to #${hidden[1]}: ${sizes}`;
  const told = shortened === null ? text : `${shortenedWords(shortened)}. ${text}`;
  const detail = compactionWords(rung, reason);
  return grown(closed(now), act({ key: `c${now.entries.length}`, act: "compaction", text: told, detail }));
}

/** The log has the prompt, or the answer that came in. */
function appended(now: PageChat, seq: number, role: SaidEntry["role"]): PageChat {
  const at = now.entries.findIndex((entry) => entry.kind === "said" && entry.seq === null && entry.role === role);
  if (at === -1) return now;
  const entry = now.entries[at] as SaidEntry;
  return { ...now, entries: now.entries.with(at, { ...entry, seq }) };
}

function withStep(now: PageChat, event: PageAgentEvent): PageChat {
  const at = now.entries.findLastIndex((entry) => entry.kind === "said" && entry.role === "assistant");
  const last = now.entries[at] as SaidEntry | undefined;
  const isCalls = event.type === "tool-start" || event.type === "tool-progress" || event.type === "tool-end";
  // Calls are carried out when their message is in the log already.
  const isOwn = last !== undefined && (last.seq === null || (isCalls && hasCall(last, event.callId)));
  const parts = withStepEvent(isOwn ? last.parts : [], event);
  if (isOwn) return parts === last.parts ? now : { ...now, entries: now.entries.with(at, { ...last, parts }) };
  return parts.length === 0 ? now : grown(closed(now), said(`l${now.entries.length}`, "assistant", parts));
}

function hasCall({ parts }: SaidEntry, id: string): boolean {
  return parts.some((part) => part.kind === "call" && part.id === id);
}

export function inCall(now: PageChat, id: string, change: (part: UiCallPart) => UiCallPart): PageChat {
  const at = now.entries.findLastIndex((entry) => entry.kind === "said" && hasCall(entry, id));
  if (at === -1) return now;
  const entry = now.entries[at] as SaidEntry;
  const parts = entry.parts.map((part) => (part.kind === "call" && part.id === id ? change(part) : part));
  return { ...now, entries: now.entries.with(at, { ...entry, parts }) };
}

function inChild(
  now: PageChat,
  id: string,
  change: (child: NonNullable<UiCallPart["child"]>) => UiCallPart["child"],
): PageChat {
  return inCall(now, id, (part) => (part.child === null ? part : { ...part, child: change(part.child) }));
}

type End = Extract<PageAgentEvent, { type: "run-end" }>["end"];

function ended(now: PageChat, end: End): PageChat {
  const quiet = closed(now);
  const settled = {
    ...quiet,
    entries: quiet.entries.map((entry) =>
      entry.kind === "said" && entry.seq === null ? { ...entry, parts: endedParts(entry.parts) } : entry,
    ),
  };
  switch (end.kind) {
    case "failed":
      return withProblem(settled, end.message, end.code);
    case "budget":
      return withProblem(settled, "The run has spent what it may spend", "budget");
    case "step-limit":
      return withProblem(settled, `The run has used its ${end.limit} steps`, "step-limit");
    case "aborted":
      return grown(
        settled,
        act({ key: `s${now.entries.length}`, act: "note", text: "Stopped. What was said is kept." }),
      );
    default:
      return settled;
  }
}
