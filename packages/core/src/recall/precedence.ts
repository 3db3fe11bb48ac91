/**
 * The promise of the ranking that no weight may break: if every term that entry B scores by, its own or its neighbors', stands in
 * entry A itself, then A comes before B. Where that holds both ways, both hold the same terms, and the score decides.
 * One exception: a long answer or result holds many words by its length alone. Before a user's message it goes only if that one
 * gathered terms of messages around it. Below: dates in words, for the index and for questions. Pure.
 */

/** Of terms a bit for each; numbers of 32 bits, the second for terms from the 33rd on. One flat object for each entry, as there are thousands. */
export interface TermSets {
  /** The terms that stand in the entry itself. */
  readonly holds: number;
  readonly holdsHigh: number;
  /** Those it scores by: its own and its neighbors'. */
  readonly scoresBy: number;
  readonly scoresByHigh: number;
  /** It took frequencies of terms from short entries around it. */
  readonly gathers: boolean;
  readonly isShort: boolean;
  /** Said by the user. */
  readonly isUsers: boolean;
}

/** The same entries, best first as given, but each after all that go before it by their terms; at least the first `limit`. */
export function inPrecedence<T>(
  best: readonly T[],
  setsOf: (one: T) => TermSets,
  limit = Number.POSITIVE_INFINITY,
): T[] {
  const groups = groupsOf(best, setsOf);
  const groupAt = new Array<TieGroup>(best.length);
  for (const group of groups) for (const place of group.places) groupAt[place] = group;
  const ordered: T[] = [];
  const open = (group: TieGroup): void => {
    if (group.isOpen) return;
    group.isOpen = true;
    const first = groups.filter((other) => goesBefore(other, group)).flatMap(({ places }) => places);
    for (const place of first.sort((a, b) => a - b)) put(place);
  };
  const placed = new Uint8Array(best.length);
  const put = (place: number): void => {
    if (placed[place] === 1) return;
    open(groupAt[place]!);
    placed[place] = 1;
    ordered.push(best[place]!);
  };
  for (const place of best.keys()) {
    if (ordered.length >= limit) break;
    put(place);
  }
  return ordered;
}

/** Entries of the same sets, by their places in what was given. There are far fewer of them than entries. */
interface TieGroup extends TermSets {
  readonly places: number[];
  isOpen: boolean;
}

function groupsOf<T>(best: readonly T[], setsOf: (one: T) => TermSets): TieGroup[] {
  const groups = new Map<number | string, TieGroup>();
  for (const [place, one] of best.entries()) {
    const sets = setsOf(one);
    const key = keyOf(sets);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { ...sets, places: [place], isOpen: false });
    else group.places.push(place);
  }
  return [...groups.values()];
}

/** A number where there are few terms, as nearly always: there are thousands of entries, and texts cost more. */
function keyOf({ holds, holdsHigh, scoresBy, scoresByHigh, gathers, isShort, isUsers }: TermSets): number | string {
  const flags = (gathers ? 1 : 0) + (isShort ? 2 : 0) + (isUsers ? 4 : 0);
  const isSmall = holdsHigh === 0 && scoresByHigh === 0 && holds >>> 0 < SMALL && scoresBy >>> 0 < SMALL;
  return isSmall
    ? (holds * SMALL + scoresBy) * 8 + flags
    : `${flags} ${holds} ${holdsHigh} ${scoresBy} ${scoresByHigh}`;
}

const SMALL = 2 ** 25;

/** No circle can come of it: in one all sets would be the same, and then neither goes before the other. */
export function goesBefore(a: TermSets, b: TermSets): boolean {
  if (!covers(a, b)) return false;
  const holdsByLength = !a.isShort && !a.isUsers && b.isUsers;
  return holdsByLength ? b.gathers : !covers(b, a);
}

/** Every term that the one scores by stands in the other. */
function covers(all: TermSets, one: TermSets): boolean {
  return (one.scoresBy & ~all.holds) === 0 && (one.scoresByHigh & ~all.holdsHigh) === 0;
}

/*
 * Dates in words for the index, and the dates a question states. Everything is in UTC, reads no clock, and a string
 * that is no date gives nothing rather than an error.
 */

const MONTHS = "january february march april may june july august september october november december".split(" ");
const WEEKDAYS = "sunday monday tuesday wednesday thursday friday saturday".split(" ");
const DAY_MS = 86_400_000;

/** `2023-05-08T13:56:00Z` as `8 may 2023`; empty for what is no date. */
export function dateWords(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** The dates that words such as `yesterday`, `last Friday` or `three years ago` mean when said at `at`, in words. */
export function relativeDates(text: string, at: string): string {
  const saidAt = new Date(at);
  if (Number.isNaN(saidAt.getTime())) return "";
  const words: string[] = [];
  for (const match of text.slice(0, MAX_READ).toLowerCase().matchAll(RELATIVE)) {
    const { step, unit, amount, agoUnit } = match.groups ?? {};
    if (unit !== undefined) words.push(...stepWords(saidAt, step === "next" ? 1 : -1, unit));
    else if (agoUnit !== undefined) words.push(agoWords(saidAt, AMOUNTS[amount!] ?? Number(amount), agoUnit));
    else words.push(dayWords(saidAt, match[0] === "tomorrow" ? 1 : -1));
  }
  return words.join(" ");
}

/** `last friday`, `next month`: the nearest one before or after the day it is said. */
function stepWords(saidAt: Date, sign: 1 | -1, unit: string): string[] {
  if (unit === "year") return [String(saidAt.getUTCFullYear() + sign)];
  if (unit === "month") return [monthName(saidAt, sign)];
  const days = unit === "weekend" ? ["saturday", "sunday"] : [unit];
  return days.map((day) => {
    const ahead = (sign * (WEEKDAYS.indexOf(day) - saidAt.getUTCDay()) + 14) % 7 || 7;
    return dayWords(saidAt, sign * ahead);
  });
}

function agoWords(saidAt: Date, count: number, unit: string): string {
  if (unit === "year") return String(saidAt.getUTCFullYear() - count);
  if (unit === "month") return monthName(saidAt, -count);
  const words = dayWords(saidAt, -count * (unit === "week" ? 7 : 1));
  // Weeks are counted roughly: the month is meant, not the day.
  return unit === "week" ? words.replace(/^\d+ /, "") : words;
}

function dayWords(saidAt: Date, days: number): string {
  return dateWords(new Date(saidAt.getTime() + days * DAY_MS).toISOString());
}

function monthName(saidAt: Date, months: number): string {
  return MONTHS[(((saidAt.getUTCMonth() + months) % 12) + 12) % 12]!;
}

const AMOUNTS: Readonly<Record<string, number>> = {
  a: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
};
const AMOUNT = "a|one|two|three|four|five|six|seven|eight|nine|ten|\\d{1,2}";
const RELATIVE = new RegExp(
  `\\b(?:yesterday|tomorrow|last night|(?<step>last|next) (?<unit>year|month|weekend|${WEEKDAYS.join("|")})|(?<amount>${AMOUNT}) (?<agoUnit>year|month|week|day)s? ago)\\b`,
  "g",
);

/** A day or a month that a text states, of any year where it names none. */
export interface StatedDate {
  readonly year: number | null;
  /** From 0. */
  readonly month: number;
  readonly day: number | null;
  /** `the week before`: so many days before it are meant too. */
  readonly daysBefore: number;
}

/** The days and months a text states; a bare year is left to the index, where it is a term. */
export function statedDates(text: string): StatedDate[] {
  const dates: StatedDate[] = [];
  const lower = text.toLowerCase().slice(0, MAX_READ);
  for (const match of lower.matchAll(STATED)) {
    const { iso, dayFirst, monthFirst, monthAlone, dayAfter, year } = match.groups ?? {};
    const before = lower.slice(Math.max(0, match.index - 30), match.index);
    const unit = /\b(day|night|weekend|week|month) before (?:the )?$/.exec(before)?.[1];
    const daysBefore = unit === undefined ? 0 : DAYS_OF[unit]!;
    const name = monthFirst ?? monthAlone;
    const bare = year === undefined && dayFirst === undefined && dayAfter === undefined;
    if (iso !== undefined) {
      const [isoYear, month, day] = iso.split("-").map(Number) as [number, number, number];
      if (month >= 1 && month <= 12) dates.push({ year: isoYear, month: month - 1, day, daysBefore });
    } else if (name !== undefined && !(bare && isVerb(name, before))) {
      const day = dayFirst ?? dayAfter;
      dates.push({
        year: year === undefined ? null : Number(year),
        month: MONTHS.findIndex((candidate) => candidate.startsWith(name.slice(0, 3))),
        day: day === undefined ? null : Number(day),
        daysBefore,
      });
    }
  }
  return dates;
}

const DAYS_OF: Readonly<Record<string, number>> = { day: 1, night: 1, weekend: 7, week: 7, month: 31 };

/** `May I`, `they march`: with neither day nor year it takes a word such as `in` to make these two a month. */
function isVerb(name: string, before: string): boolean {
  return /^mar|^may/.test(name) && !MONTH_FOLLOWS.test(before);
}

const MONTH_FOLLOWS = /\b(?:in|by|of|since|until|till|during|from|early|mid|late|last|this|next|before|after)[\s-]$/;
const MAX_READ = 2_000;
const MONTH_NAME =
  "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?";
const STATED = new RegExp(
  `\\b(?:(?<iso>\\d{4}-\\d{2}-\\d{2})|(?:(?<dayFirst>\\d{1,2})(?:st|nd|rd|th)?\\s(?:of\\s)?(?<monthFirst>${MONTH_NAME})|(?<monthAlone>${MONTH_NAME})(?:\\s(?<dayAfter>\\d{1,2})(?:st|nd|rd|th)?(?!\\d))?)(?:,?\\s(?<year>\\d{4}))?)\\b`,
  "g",
);

/** People tell of a day in the weeks after it, and less often of what is to come. */
const TELLING_DAYS = 21;
const AHEAD = 0.5;

/** 1 within the stated date, falling to 0 over the weeks around it. */
export function nearness(at: string, { year, month, day, daysBefore }: StatedDate): number {
  const time = Date.parse(at);
  const saidIn = new Date(time).getUTCFullYear();
  let best = 0;
  for (const of of year === null ? [saidIn - 1, saidIn, saidIn + 1] : [year]) {
    const from = Date.UTC(of, month, day ?? 1) - daysBefore * DAY_MS;
    const to = day === null ? Date.UTC(of, month + 1, 1) : Date.UTC(of, month, day + 1);
    if (time >= from && time < to) return 1;
    const away = (time < from ? from - time : time - to) / DAY_MS;
    if (away < TELLING_DAYS) best = Math.max(best, (1 - away / TELLING_DAYS) * (time < from ? AHEAD : 1));
  }
  return best;
}

/** Whether a text names a time: what a question that asks for one looks for. */
export function namesTime(text: string): boolean {
  return TIME.test(text.slice(0, MAX_READ));
}

const TIME = new RegExp(
  `\\b(?:yesterday|today|tonight|tomorrow|ago|since|recently|weekends?|(?:${WEEKDAYS.join("|")})s?|${MONTHS.filter((name) => name !== "may" && name !== "march").join("|")}|(?:in|since|last|next|this|of|early|late|mid)[\\s-](?:may|march|spring|summer|fall|autumn|winter)|(?:last|next|this|past|few|other|several|${AMOUNT}) (?:hour|day|night|morning|evening|week|month|year|decade)s?|(?:19|20)\\d\\d)\\b`,
  "i",
);

/** `when`, `how long`, `which year`: the question asks for a time. */
export function asksTime(question: string): boolean {
  return ASKS_TIME.test(question.slice(0, MAX_READ));
}

const ASKS_TIME =
  /\b(?:when|how (?:long|old)|(?:what|which) (?:year|month|week|day|date|time)|how many (?:year|month|week|day|hour)s)\b/i;
