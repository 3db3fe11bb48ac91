/**
 * Plays a recorded conversation to a sender and judges each request: what of the probes stands in it word for word, what of
 * them stands in verbatim messages and quotes alone, what it costs with the provider's prompt cache.
 */
import type { OpenAiMessage } from "@palimpsest/core/internal/message";
import type { Meter } from "@palimpsest/core/internal/tokens";
import { folded } from "../replay/judge.ts";
import { type CacheRules, type Piece, providerCache } from "../replay/provider-cache.ts";
import { readAgain } from "../replay/simulate.ts";
import { holds, linesOf, type Probe, type ProbeKind, readable } from "./probes.ts";
import type { Sender, SenderPlace, SenderRequest } from "./senders.ts";

export interface PlayedSession {
  readonly name: string;
  readonly messages: readonly OpenAiMessage[];
  readonly times: readonly number[];
  /** Tokens reported for each message, if any. */
  readonly outputs: readonly (number | null)[];
  readonly probes: ReadonlyMap<number, readonly Probe[]>;
  readonly requests: ReadonlyMap<number, string>;
  /** For how many probes `finds` has an answer. */
  readonly searches: number;
  /** Whether one search finds the probe; asked only for what isn't visible. Null: this probe isn't searched for. */
  readonly finds: (probe: Probe) => Promise<boolean | null>;
}

export interface PromptShare {
  of: number;
  held: number;
}

export interface PlayedPrompts {
  cost: number;
  requests: number;
  failed: number;
  over: number;
  compactions: number;
  fetches: number;
  readonly tokens: number[];
  readonly seen: PromptShare;
  readonly strict: PromptShare;
  /** Of what isn't visible and was searched for. */
  readonly found: PromptShare;
  readonly asked: PromptShare;
  readonly kinds: Readonly<Record<ProbeKind, PromptShare>>;
}

export interface PlayPrompts {
  readonly place: SenderPlace;
  readonly cache: CacheRules;
  /** `fetch`: what isn't visible is read again in a request of its own, and carried from then on. */
  readonly missing: "leave" | "fetch";
  readonly search: boolean;
}

export async function playPrompts(
  session: PlayedSession,
  sender: Sender,
  options: PlayPrompts,
): Promise<PlayedPrompts> {
  const played = nothingPlayed();
  const bill = openBill(played, options);
  const verbatim = verbatimText(session.messages);
  for (const [index, message] of session.messages.entries()) {
    if (message.role === "assistant" && index > 0)
      await playRequest({ session, sender, options, played, bill, verbatim }, index);
    await sender.say(message, session.times[index]!);
  }
  return played;
}

interface PromptPlaying {
  readonly session: PlayedSession;
  readonly sender: Sender;
  readonly options: PlayPrompts;
  readonly played: PlayedPrompts;
  readonly bill: ReturnType<typeof openBill>;
  readonly verbatim: ReturnType<typeof verbatimText>;
}

/** The request that the message at `index` answers. */
async function playRequest({ session, sender, options, played, bill, verbatim }: PromptPlaying, index: number) {
  const { place } = options;
  const sentAt = session.times[index - 1]!;
  let sent = await sender.request(sentAt, bill.state(sentAt));
  played.requests++;
  if (sent === null) {
    played.failed++;
    return;
  }
  if (sent.compacted) played.compactions++;
  const probes = session.probes.get(index) ?? [];
  const missing = judge(played, sent, { probes, session, index, strictText: verbatim(sent, index) });
  for (const probe of options.search ? missing : []) {
    const found = await session.finds(probe);
    if (found !== null) count(played.found, found);
  }
  for (const [number, text] of options.missing === "fetch" ? fetched(missing, session).entries() : []) {
    bill.charge(sent, sentAt, ASKING_TOKENS);
    for (const said of readAgain(text, `fetch-${index}-${number}`)) await sender.say(said, sentAt);
    played.fetches++;
    sent = (await sender.request(sentAt, bill.state(sentAt))) ?? sent;
  }
  bill.charge(sent, sentAt, session.outputs[index] ?? place.meter.message(session.messages[index]!));
  if (played.tokens.at(-1)! > place.window) played.over++;
}

interface Judged {
  readonly probes: readonly Probe[];
  readonly session: PlayedSession;
  readonly index: number;
  readonly strictText: string;
}

/** Every so many requests the user's own requests are asked for. */
const ASKED_EVERY = 5;

function judge(
  played: PlayedPrompts,
  { messages }: SenderRequest,
  { probes, session, index, strictText }: Judged,
): Probe[] {
  const text = messages.map(readable).join("\n");
  const missing: Probe[] = [];
  for (const probe of probes) {
    const held = holds(text, probe.text, probe.kind);
    count(played.seen, held);
    count(played.kinds[probe.kind], held);
    count(played.strict, held && holds(strictText, probe.text, probe.kind));
    if (!held) missing.push(probe);
  }
  if (played.requests % ASKED_EVERY === 0)
    for (const [at, request] of session.requests) if (at < index) count(played.asked, text.includes(request));
  return missing;
}

function count(share: PromptShare, held: boolean): void {
  share.of++;
  if (held) share.held++;
}

const SHORTEST_LINE = 8;

/**
 * Of a request, what stands as it was said: messages that are whole, and of all other text the lines that some message
 * holds as a line. A list of names made by a summarizer is no line of any message.
 */
function verbatimText(messages: readonly OpenAiMessage[]): (sent: SenderRequest, end: number) => string {
  const lines = new Set<string>();
  const whole = new Set<string>();
  let known = 0;
  const cache = new WeakMap<OpenAiMessage, string>();
  return (sent, end) => {
    for (; known < end; known++) {
      whole.add(readable(messages[known]!));
      for (const line of linesOf(messages[known]!)) if (line.length >= SHORTEST_LINE) lines.add(line);
    }
    return sent.messages
      .map((message) => {
        const text = readable(message);
        if (whole.has(text)) return text;
        const before = cache.get(message);
        if (before !== undefined) return before;
        const kept = folded(
          linesOf(message)
            .filter((line) => lines.has(line))
            .join("\n"),
        );
        cache.set(message, kept);
        return kept;
      })
      .join("\n");
  };
}

const ASKING_TOKENS = 60;
/** What one call of the tool that reads history gives, in characters. */
const PIECE = 8000;

/** As few pieces of messages as hold all that is missing. */
function fetched(missing: readonly Probe[], { messages }: PlayedSession): readonly string[] {
  const pieces: { readonly source: number; readonly text: string }[] = [];
  for (const { text, kind, source } of missing) {
    if (pieces.some((piece) => piece.source === source && holds(folded(piece.text), text, kind))) continue;
    const whole = linesOf(messages[source]!).join("\n");
    const middle = Math.max(0, folded(whole).indexOf(text));
    const start = Math.max(0, Math.min(middle - PIECE / 2, whole.length - PIECE));
    pieces.push({ source, text: whole.slice(start, start + PIECE) });
  }
  return pieces.map(({ text }) => text);
}

/** Charges requests, with marks where the sender sets them, or else at the end and behind the last two changes. */
function openBill(played: PlayedPrompts, { place, cache: rules }: PlayPrompts) {
  const cache = providerCache(rules);
  const { prices } = rules;
  let before: readonly string[] = [];
  let changes: readonly string[] = [];
  return {
    state: (at: number) => cache.state(at),
    charge({ messages, marks, calls }: SenderRequest, sentAt: number, output: number): void {
      const pieces = messages.map((_, index) => pieceOf(messages, index, place.meter));
      const keys = pieces.map(({ key }) => key as string);
      const same = keys.findIndex((key, index) => key !== before[index]);
      if (same >= 0 && same < before.length) changes = [...changes, keys[same]!].slice(-2);
      before = keys;
      const places = marks ?? changes.map((key) => keys.indexOf(key)).filter((index) => index >= 0);
      const ends = [...new Set([...places, messages.length - 1])].sort((a, b) => a - b);
      const { cost, reused, fresh } = cache.charge({ sentAt, pieces, marks: ends, output });
      played.cost += cost;
      played.tokens.push(reused + fresh);
      for (const { input, cached = 0, output: written } of calls)
        played.cost += (input - cached) * prices.input + cached * prices.cacheRead + written * prices.output;
    },
  };
}

function pieceOf(messages: readonly OpenAiMessage[], index: number, meter: Meter<OpenAiMessage>): Piece {
  const message = messages[index]!;
  const afterResult = message.role === "tool" && messages[index - 1]?.role === "tool";
  const said = message.content == null || message.content.length === 0 ? 0 : 1;
  const called = (message.tool_calls ?? []).length > 0 ? 1 : 0;
  return { key: keyOf(message), tokens: meter.messages([message]), blocks: afterResult ? 0 : said + called };
}

const keys = new WeakMap<OpenAiMessage, string>();

function keyOf(message: OpenAiMessage): string {
  const key = keys.get(message) ?? JSON.stringify(message);
  keys.set(message, key);
  return key;
}

function nothingPlayed(): PlayedPrompts {
  const none = (): PromptShare => ({ of: 0, held: 0 });
  return {
    cost: 0,
    requests: 0,
    failed: 0,
    over: 0,
    compactions: 0,
    fetches: 0,
    tokens: [],
    seen: none(),
    strict: none(),
    found: none(),
    asked: none(),
    kinds: { path: none(), name: none(), number: none(), error: none(), line: none() },
  };
}
