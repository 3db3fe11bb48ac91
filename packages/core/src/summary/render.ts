/**
 * Renders a summary state as the text the prompt shows, under a token limit, the same bytes for the same input.
 * When not everything fits, lines are shed in a fixed order. Each section first keeps a guaranteed share of the limit;
 * what is left is filled in the order of `RANK`, so its end goes first: resolved items, commands that passed, files only
 * read, facts, passing tests, commits, skills, errors, decisions, changed files, failing commands, delegations, todos,
 * next, now, goals, prose. A shed line is counted where it would have stood, with the way to read it.
 */
import type { SummaryFormat } from "../log/record.ts";
import { flatten } from "../text/names.ts";
import { newsOf } from "./extract.ts";
import { formatSeqs, LEDGER_FILE, ledgerLines } from "./ledger-lines.ts";
import {
  choosePins,
  formatPrefix,
  NOWHERE,
  type Originals,
  openingLines,
  type Pin,
  type ShortOptions,
  shortSummary,
  whereMore,
} from "./render-lines.ts";
import { isResolved, type SummaryItem, type SummarySection, type SummaryState } from "./state.ts";

export interface RenderOptions {
  readonly maxTokens: number;
  readonly count: (text: string) => number;
  /** Verbatim quotes in order of importance. */
  readonly pins?: readonly Pin[];
  /** State that isn't in messages [F21], one line each. */
  readonly todos?: readonly string[];
  readonly delegations?: readonly string[];
  readonly skills?: readonly string[];
  /** Names, numbers and paths that were used, the likeliest first. */
  readonly names?: readonly string[];
  /** Standing rules, which the prompt shows beside the summary: what says nothing else is left out. */
  readonly rules?: readonly string[];
  /** Where the model can read the summarized messages; not mentioned if absent. */
  readonly originals?: Originals;
  /** What the text begins with; `pair` when absent. */
  readonly format?: SummaryFormat;
}

export interface RenderedSummary {
  readonly text: string;
  readonly tokens: number;
  /** How many lines each section had to leave out. */
  readonly shed: Readonly<Partial<Record<BlockName, number>>>;
}

/** Kept longest first. The number is the share of the limit a section may use before any other is filled further. */
const RANK = {
  prose: { share: 0.5, heading: "Summary" },
  goals: { share: 0.14, heading: "Goals and constraints" },
  now: { share: 0.05, heading: "Where things stood" },
  next: { share: 0.05, heading: "What remained to do" },
  todos: { share: 0.06, heading: "Todo list" },
  delegations: { share: 0.04, heading: "Delegated work" },
  failing: { share: 0.07, heading: "Commands that failed" },
  changed: { share: 0.1, heading: "Files changed" },
  decisions: { share: 0.11, heading: "Decisions and reasons" },
  errors: { share: 0.05, heading: "Problems" },
  skills: { share: 0.03, heading: "Skills loaded" },
  commits: { share: 0.03, heading: "Commits" },
  tests: { share: 0.02, heading: "Tests that passed" },
  names: {
    share: 0.7,
    heading: "Names, numbers and paths that were used",
  },
  facts: { share: 0.12, heading: "Facts" },
  read: { share: 0.02, heading: "Files read" },
  commands: { share: 0.01, heading: "Commands that passed" },
  resolved: { share: 0, heading: "Settled" },
} as const;

/** The heading that a section's open items stand under. */
export const SECTION_HEADINGS: Readonly<Record<SummarySection, string>> = {
  goals: RANK.goals.heading,
  decisions: RANK.decisions.heading,
  files: RANK.changed.heading,
  facts: RANK.facts.heading,
  errors: RANK.errors.heading,
  now: RANK.now.heading,
  next: RANK.next.heading,
};

type BlockName = keyof typeof RANK;
const RANKED = Object.keys(RANK) as readonly BlockName[];

/** The order of reading, which is not the order of importance. */
const ORDER: readonly BlockName[] = [
  "prose",
  "goals",
  "now",
  "next",
  "todos",
  "delegations",
  "skills",
  "decisions",
  "errors",
  "failing",
  "changed",
  "commits",
  "tests",
  "facts",
  "names",
  "read",
  "commands",
  "resolved",
];

export function renderSummary(state: SummaryState, options: RenderOptions): RenderedSummary {
  const { maxTokens, count, originals = NOWHERE } = options;
  const format = options.format ?? "pair";
  const opening = formatPrefix(format) + openingLines(state.through, originals);
  const isRule = ruleTest(options.rules ?? []);
  const blocks = withoutRepeats(blocksOf(state, options), isRule);
  const quotable = (options.pins ?? []).filter(({ text }) => !isRule(text));
  const costs = new Map(blocks.flatMap(({ lines }) => lines.map((line) => [line, count(`- ${line}\n`)] as const)));
  let room = maxTokens - count(opening) - 8;
  // Counts of lines don't add up exactly to the count of the text, so the last word has the whole text.
  for (let attempt = 0; attempt < 6 && room >= 40; attempt++) {
    const pins = choosePins(quotable, {
      maxTokens: room * 0.3,
      count,
      originals,
    });
    const chosen = fill(withoutQuoted(blocks, pins.shown), room - pins.tokens, { count, costs });
    const text = compose(opening, pins.text, chosen, originals);
    const tokens = count(text);
    if (tokens <= maxTokens) {
      if (saysNothing(chosen, pins.text)) break;
      return { text, tokens, shed: shedCounts(chosen) };
    }
    room -= tokens - maxTokens + 16;
  }
  return renderShort(blocks, { maxTokens, count, through: state.through, originals, format });
}

/** What a summarizer made of the conversation, and may have been paid for. */
const isTold = ({ name, items }: SummaryBlock): boolean => name === "prose" || items !== undefined;

function saysNothing(chosen: readonly Filled[], pins: string): boolean {
  const told = chosen.filter(isTold);
  if (told.length === 0) return pins === "" && chosen.every(({ kept }) => kept.size === 0);
  return told.every(({ kept }) => kept.size === 0);
}

/** What was understood of the conversation before what stands in its tools and its state anyway. */
function renderShort(blocks: readonly SummaryBlock[], options: ShortOptions): RenderedSummary {
  const ranked = RANKED.flatMap((name) => blocks.filter((block) => block.name === name));
  const order = [...ranked.filter(isTold), ...ranked.filter((block) => !isTold(block))];
  const places = order.flatMap((block) => block.priority.map((index) => ({ block, index })));
  const lines = places.map(({ block, index }) => block.lines[index]!);
  const { text, shown } = shortSummary(lines, options);
  const kept = (block: SummaryBlock): Set<number> =>
    new Set(places.flatMap((place, at) => (place.block === block && shown.has(at) ? [place.index] : [])));
  const shed = shedCounts(order.map((block) => ({ ...block, kept: kept(block) })));
  return { text, tokens: options.count(text), shed };
}

interface SummaryBlock {
  readonly name: BlockName;
  readonly lines: readonly string[];
  /** Indexes of `lines`, most important first. */
  readonly priority: readonly number[];
  /** Where each line came from, to leave out what a pin already quotes. */
  readonly items?: readonly SummaryItem[];
  readonly note?: string;
}

interface Filled extends SummaryBlock {
  readonly kept: ReadonlySet<number>;
}

function blocksOf(state: SummaryState, options: RenderOptions): SummaryBlock[] {
  const ledger = ledgerLines(state.ledger);
  const open = (section: SummarySection) => state.sections[section].filter((item) => !isResolved(item));
  const resolved = Object.values(state.sections).flat().filter(isResolved);
  // A line break in a todo or a file's name would begin a line or a heading of its own.
  const plain = (name: BlockName, lines: readonly string[], note?: string): SummaryBlock => ({
    name,
    lines: lines.map((line) => flatten(line).trimEnd()),
    priority: lines.map((_, index) => index),
    ...(note === undefined || note === "" ? {} : { note }),
  });
  const itemised = (name: BlockName, items: readonly SummaryItem[], priority: readonly number[]): SummaryBlock => ({
    name,
    lines: items.map(itemLine),
    priority,
    items,
  });
  const fileNotes = open("files").map(itemLine);
  const facts = open("facts");
  const goals = open("goals");
  return [
    plain("prose", state.prose === null ? [] : state.prose.split("\n").filter((line) => line.trim() !== "")),
    itemised("goals", goals, [...(goals.length > 0 ? [0] : []), ...newestFirst(goals).filter((index) => index !== 0)]),
    ...(["now", "next"] as const).map((name) =>
      itemised(
        name,
        open(name),
        open(name).map((_, index) => index),
      ),
    ),
    plain("todos", options.todos ?? []),
    plain("delegations", options.delegations ?? []),
    plain("skills", options.skills ?? []),
    ...(["decisions", "errors"] as const).map((name) => itemised(name, open(name), newestFirst(open(name)))),
    plain("failing", ledger.failing),
    plain("changed", [...fileNotes, ...ledger.changed], ledger.root === "" ? "" : `Paths below ${ledger.root}`),
    plain("commits", ledger.commits),
    plain("tests", ledger.tests),
    plain("names", joined(options.names ?? [])),
    itemised("facts", facts, byNews(facts)),
    plain("read", ledger.read),
    plain("commands", ledger.commands),
    itemised("resolved", resolved, newestFirst(resolved)),
  ];
}

/** Several in a line, so that what doesn't fit is a line or two. */
function joined(names: readonly string[]): string[] {
  const lines: string[] = [];
  for (const name of names) {
    const line = lines.at(-1);
    if (line === undefined || line.length + name.length > NAME_LINE) lines.push(name);
    else lines[lines.length - 1] = `${line}, ${name}`;
  }
  return lines;
}

const NAME_LINE = 100;

function itemLine(item: SummaryItem): string {
  const why = item.why === undefined ? "" : ` (${isResolved(item) ? `${item.status}: ` : "because: "}${item.why})`;
  return `${flatten(item.text)}${flatten(why)} ${formatSeqs(item.seqs)}`;
}

function newestFirst(items: readonly SummaryItem[]): number[] {
  return items.map((_, index) => index).reverse();
}

/** The user's words stand once: a goal that a shown pin quotes is left out. */
function withoutQuoted(blocks: readonly SummaryBlock[], pins: readonly Pin[]): SummaryBlock[] {
  const quoted = new Map(pins.map((pin) => [pin.seq, pin.text.replaceAll(/\s+/g, " ")]));
  const repeats = ({ text, seqs }: SummaryItem) =>
    seqs.some((seq) => quoted.get(seq)?.includes(text.replace(/…$/, "")));
  return blocks.map((block) => (block.name === "goals" ? without(block, repeats) : block));
}

/** Where a line stands that several sections have: where its heading tells most about it. */
const TELLING: readonly BlockName[] = ["goals", "next", "decisions", "errors", "now", "facts", "resolved"];

/** Each item stands once; a goal that is a standing rule stands among the rules. */
function withoutRepeats(blocks: readonly SummaryBlock[], isRule: (text: string) => boolean): SummaryBlock[] {
  const told = new Set<string>();
  const isKnown = ({ text }: SummaryItem): boolean => {
    const words = plainWords(text);
    const known = words !== "" && told.has(words);
    told.add(words);
    return known;
  };
  const sorted = [...blocks].sort((a, b) => TELLING.indexOf(a.name) - TELLING.indexOf(b.name));
  return sorted.map((block) =>
    without(block, (item) => (block.name === "goals" && isRule(item.text)) || isKnown(item)),
  );
}

function without(block: SummaryBlock, isGone: (item: SummaryItem) => boolean): SummaryBlock {
  const { items } = block;
  if (items === undefined) return block;
  const remaining = [...items.keys()].filter((index) => !isGone(items[index]!));
  const moved = new Map(remaining.map((old, index) => [old, index]));
  return {
    ...block,
    lines: remaining.map((index) => block.lines[index]!),
    priority: block.priority.flatMap((index) => moved.get(index) ?? []),
    items: remaining.map((index) => items[index]!),
  };
}

/** Whether a text says nothing but standing rules. */
function ruleTest(rules: readonly string[]): (text: string) => boolean {
  // A rule may hold a shorter one.
  const known = rules.map(plainWords).sort((a, b) => b.length - a.length);
  return (text) => {
    if (known.length === 0) return false;
    const words = plainWords(text);
    return words !== "" && known.reduce((left, rule) => left.replaceAll(rule, ""), words).trim() === "";
  };
}

/** Words alone: what is the same but for case, white space and punctuation is the same. */
function plainWords(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** Share of the room that the first request may take beyond its section's: the rest makes no sense without it. */
const OPENING_SHARE = 0.4;

function fill(
  blocks: readonly SummaryBlock[],
  room: number,
  { count, costs }: { count: (text: string) => number; costs: ReadonlyMap<string, number> },
): Filled[] {
  const ranked = RANKED.flatMap((name) => blocks.filter((block) => block.name === name && block.lines.length > 0));
  const lineSets = new Map(ranked.map((block) => [block.name, new Set<number>()]));
  let left = room;
  const take = (block: SummaryBlock, limit: number) => {
    const chosen = lineSets.get(block.name)!;
    // Heading, note and the line that counts what is missing.
    const fixed = chosen.size > 0 ? 0 : count(`\n## ${RANK[block.name].heading}\n${block.note ?? ""}\n`) + 14;
    let used = fixed;
    const first = block.priority[0];
    const opening = block.name === "goals" && first !== undefined ? fixed + costs.get(block.lines[first]!)! : 0;
    const most = Math.min(Math.max(limit, Math.min(opening, room * OPENING_SHARE)), left);
    for (const index of block.priority) {
      const cost = costs.get(block.lines[index]!)!;
      if (chosen.has(index) || used + cost > most) continue;
      chosen.add(index);
      used += cost;
    }
    if (used > fixed) left -= used;
  };
  const shares = ranked.reduce((sum, block) => sum + RANK[block.name].share, 0) || 1;
  for (const block of ranked) take(block, (room * RANK[block.name].share) / Math.max(1, shares));
  for (const block of ranked) take(block, Number.POSITIVE_INFINITY);
  return ranked.map((block) => ({ ...block, kept: lineSets.get(block.name)! }));
}

/** Blocks whose every line stands in the ledger's file. */
const LEDGER_BLOCKS: ReadonlySet<BlockName> = new Set(["changed", "failing", "commits", "tests", "read", "commands"]);

function compose(opening: string, pins: string, blocks: readonly Filled[], originals: Originals): string {
  const parts = [opening];
  if (pins !== "") parts.push(pins);
  const { folder } = originals;
  for (const name of ORDER) {
    const block = blocks.find((candidate) => candidate.name === name);
    if (block === undefined || block.kept.size === 0) continue;
    const lines = block.lines.filter((_, index) => block.kept.has(index));
    const missing = block.lines.length - lines.length;
    const bullets = name === "prose" ? lines : lines.map((line) => `- ${line}`);
    const rest = folder !== null && LEDGER_BLOCKS.has(name) ? `${folder}${LEDGER_FILE}` : whereMore(originals);
    if (missing > 0) bullets.push(`- and ${missing} more${rest === "" ? "" : `: ${rest}`}`);
    parts.push([`## ${RANK[name].heading}`, ...(block.note === undefined ? [] : [block.note]), ...bullets].join("\n"));
  }
  return parts.join("\n\n");
}

function shedCounts(blocks: readonly Filled[]): Partial<Record<BlockName, number>> {
  const counts: Partial<Record<BlockName, number>> = {};
  for (const block of blocks) {
    const missing = block.lines.length - block.kept.size;
    if (missing > 0) counts[block.name] = missing;
  }
  return counts;
}

/**
 * Most new names per character first: when facts must go, those that repeat what others say go first. Scores only fall
 * as names get shown, so a score that still leads after being taken anew is the best one.
 */
function byNews(items: readonly SummaryItem[]): number[] {
  const news = items.map(({ text }) => newsOf(text));
  const shownIds = new Set<string>();
  const score = (index: number) => {
    const fresh = news[index]!.reduce((sum, name) => sum + (shownIds.has(name) ? 0 : 1), 0);
    return (fresh + 0.5) / (items[index]!.text.length + 20);
  };
  // Best last; of equals the newer one is better.
  const queue = items
    .map((_, index) => ({ index, score: score(index) }))
    .sort((a, b) => a.score - b.score || a.index - b.index);
  const order: number[] = [];
  for (let best = queue.pop(); best !== undefined; best = queue.pop()) {
    const fresh = score(best.index);
    if (fresh < best.score && queue.length > 0 && fresh < queue.at(-1)!.score) {
      let at = queue.length;
      while (at > 0 && queue[at - 1]!.score > fresh) at--;
      queue.splice(at, 0, { index: best.index, score: fresh });
      continue;
    }
    order.push(best.index);
    for (const name of news[best.index]!) shownIds.add(name);
  }
  return order;
}
