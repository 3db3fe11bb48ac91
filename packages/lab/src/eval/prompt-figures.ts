/**
 * Figures of what requests hold: recorded conversations are played to a sender, and beside it to truncation to the same tokens,
 * request by request. Every share is in percent.
 */
import { openaiRules, openaiShape, repair } from "@palimpsest/core/internal/message";
import { RELATIVE_PRICES } from "@palimpsest/core/internal/pricing";
import type { Turn } from "../replay/transcript.ts";
import { searchTurns } from "../replay/turn-search.ts";
import { type PlayedPrompts, type PlayedSession, type PromptShare, playPrompts } from "./play-prompts.ts";
import { KINDS, type Probe, type ProbeKind, probesOf, readable, requestsOf } from "./probes.ts";
import { meterOf, type NamedSender, neverCompacted, type SenderPlace, truncation } from "./senders.ts";

const CACHE = { prices: RELATIVE_PRICES, reads: "marks" } as const;

export type FigureCount = (text: string) => number;

export interface FigureOptions {
  /** A probe's source lies more than this many messages back. */
  readonly distance: number;
  readonly count: FigureCount;
  /** At most so many probes are searched for, evenly spread; all unless told. */
  readonly searches?: number | undefined;
}

export function sessionOf(name: string, turns: readonly Turn[], options: FigureOptions): PlayedSession {
  const given = turns.map(({ message }) => message);
  const { messages } = repair(given, openaiShape, openaiRules);
  const same = messages.length === given.length;
  const timed = messages.map((message, index): Turn => {
    const turn = same ? turns[index] : undefined;
    return { message, at: turn?.at ?? index * PACE_MS, output: turn?.output ?? null };
  });
  const { find } = searchTurns(timed);
  const probes = probesOf(messages, options.distance);
  const every = Math.max(1, Math.ceil(probes.length / (options.searches ?? probes.length)));
  const searched = new Set(probes.filter((_, index) => index % every === 0));
  const answers = new Map<Probe, boolean>();
  return {
    name,
    messages,
    times: timed.map(({ at }) => at),
    outputs: timed.map(({ output }) => output),
    probes: Map.groupBy(probes, ({ at }) => at),
    requests: requestsOf(messages),
    searches: searched.size,
    async finds(probe) {
      if (!searched.has(probe)) return null;
      const known = answers.get(probe);
      if (known !== undefined) return known;
      const query = readable(messages[probe.at]!).replaceAll(probe.text, " ").slice(0, QUERY_CHARACTERS);
      const hits = await find(query, { end: probe.at, hits: 20 });
      const texts = hits.map((hit) => readable(messages[hit]!));
      const found = withinTokens(texts, options.count).includes(probe.text);
      answers.set(probe, found);
      return found;
    },
  };
}

/** Between two messages without times. */
const PACE_MS = 30_000;
const QUERY_CHARACTERS = 400;
const SEARCH_TOKENS = 2000;

function withinTokens(texts: readonly string[], count: FigureCount): string {
  let left = SEARCH_TOKENS;
  const shown: string[] = [];
  for (const text of texts) {
    const tokens = count(text);
    shown.push(tokens <= left ? text : text.slice(0, Math.floor((text.length * left) / tokens)));
    left -= tokens;
    if (left <= 0) break;
  }
  return shown.join("\n");
}

export interface PromptFigureOptions {
  readonly window: number;
  readonly count: FigureCount;
  /** Also with what isn't visible read again and carried from then on. */
  readonly withFetched?: boolean;
  /** Without truncation and search. */
  readonly quick?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Shares are percent of what was asked for; null if nothing was. */
export interface PromptFigures extends Readonly<Record<ProbeKind, number | null>> {
  readonly who: string;
  /** Mean of a request, and the same in percent of the window. */
  readonly tokens: number;
  readonly full: number;
  /** Compactions in 100 requests. */
  readonly per100: number;
  readonly seen: number | null;
  /** Of truncation to the same tokens. */
  readonly trunc: number | null;
  readonly strict: number | null;
  readonly truncStrict: number | null;
  readonly search: number | null;
  readonly asked: number | null;
  readonly truncAsked: number | null;
  /** Percent of what the session costs if nothing is ever compacted. */
  readonly cost: number;
  readonly fetched?: number;
  readonly seenThen?: number | null;
  readonly strictThen?: number | null;
  readonly over: number;
  readonly failed: number;
  readonly requests: number;
  readonly probes: number;
}

export async function promptFigures(
  sender: NamedSender,
  sessions: readonly PlayedSession[],
  options: PromptFigureOptions,
): Promise<PromptFigures> {
  const { withFetched = false, quick = false, signal } = options;
  const each = { ours: [] as PlayedPrompts[], cut: [] as PlayedPrompts[], never: 0, fetched: [] as PlayedPrompts[] };
  for (const session of sessions) {
    signal?.throwIfAborted();
    const ours = await played(session, sender, options, { search: !quick });
    each.ours.push(ours);
    if (!quick) each.cut.push(await played(session, truncation(ours.tokens), options));
    const never = costs.get(session) ?? (await played(session, neverCompacted, options)).cost;
    costs.set(session, never);
    each.never += never;
    if (withFetched) each.fetched.push(await played(session, sender, options, { missing: "fetch" }));
  }
  return {
    ...summed(sender.name, each, options.window),
    ...(withFetched && {
      fetched: percent(total(each.fetched, costOf), each.never) ?? 0,
      seenThen: share(each.fetched, ({ seen }) => seen),
      strictThen: share(each.fetched, ({ strict }) => strict),
    }),
  };
}

/** What a session costs if nothing is ever compacted. */
const costs = new WeakMap<PlayedSession, number>();

async function played(
  session: PlayedSession,
  sender: NamedSender,
  { window, count }: PromptFigureOptions,
  { missing = "leave", search = false }: { readonly missing?: "leave" | "fetch"; readonly search?: boolean } = {},
): Promise<PlayedPrompts> {
  const systems = session.messages.filter(({ role }) => role === "system");
  const place: SenderPlace = { window, meter: meterOf(count), count, systems };
  const opened = await sender.open(place);
  try {
    return await playPrompts(session, opened, { place, cache: CACHE, missing, search });
  } finally {
    await opened.close();
  }
}

interface Plays {
  readonly ours: readonly PlayedPrompts[];
  readonly cut: readonly PlayedPrompts[];
  readonly never: number;
}

function summed(who: string, { ours, cut, never }: Plays, window: number): PromptFigures {
  const requests = total(ours, (one) => one.requests);
  const tokens = total(ours, (one) => one.tokens.reduce((sum, size) => sum + size, 0)) / Math.max(1, requests);
  const kinds = KINDS.map((kind) => [kind, share(ours, (one) => one.kinds[kind])] as const);
  return {
    who,
    tokens: Math.round(tokens),
    full: percent(tokens, window) ?? 0,
    per100: round((100 * total(ours, (one) => one.compactions)) / Math.max(1, requests)),
    seen: share(ours, ({ seen }) => seen),
    trunc: share(cut, ({ seen }) => seen),
    strict: share(ours, ({ strict }) => strict),
    truncStrict: share(cut, ({ strict }) => strict),
    search: withSearch(ours),
    ...(Object.fromEntries(kinds) as Record<ProbeKind, number | null>),
    asked: share(ours, ({ asked }) => asked),
    truncAsked: share(cut, ({ asked }) => asked),
    cost: percent(total(ours, costOf), never) ?? 0,
    over: total(ours, (one) => one.over),
    failed: total(ours, (one) => one.failed),
    requests,
    probes: total(ours, (one) => one.seen.of),
  };
}

/** What is seen, and of the rest the share that a search finds. */
function withSearch(plays: readonly PlayedPrompts[]): number | null {
  const of = total(plays, (one) => one.seen.of);
  const held = total(plays, (one) => one.seen.held);
  const searched = total(plays, (one) => one.found.of);
  const found = searched === 0 ? 0 : total(plays, (one) => one.found.held) / searched;
  return percent(held + (of - held) * found, of);
}

function costOf({ cost }: PlayedPrompts): number {
  return cost;
}

function share(plays: readonly PlayedPrompts[], of: (one: PlayedPrompts) => PromptShare): number | null {
  return percent(
    total(plays, (one) => of(one).held),
    total(plays, (one) => of(one).of),
  );
}

function total(plays: readonly PlayedPrompts[], of: (one: PlayedPrompts) => number): number {
  return plays.reduce((sum, one) => sum + of(one), 0);
}

/** Null if there is nothing that it could be a part of. */
function percent(part: number, whole: number): number | null {
  return whole === 0 ? null : round((100 * part) / whole);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
