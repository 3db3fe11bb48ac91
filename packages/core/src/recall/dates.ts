/**
 * Dates in words for the index, and the dates a question states as ranges of time. Everything is in UTC, reads no clock, and
 * a string that is no date gives nothing rather than an error.
 */

const MONTHS = "january february march april may june july august september october november december".split(" ");
const DAY_MS = 86_400_000;

/** `2023-05-08T13:56:00Z` as `8 may 2023`; empty for what is no date. */
export function dateWords(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** The dates that words such as `yesterday`, `last month` or `three years ago` mean when said at `at`, in words. */
export function relativeDates(text: string, at: string): string {
  const saidAt = new Date(at);
  if (Number.isNaN(saidAt.getTime())) return "";
  const year = saidAt.getUTCFullYear();
  const month = saidAt.getUTCMonth();
  const words: string[] = [];
  for (const [whole, step, unit, amount, agoUnit] of text.slice(0, MAX_READ).toLowerCase().matchAll(RELATIVE)) {
    const count = amount === undefined ? 1 : (AMOUNTS[amount] ?? Number(amount));
    const sign = step === "next" ? 1 : -1;
    const by = unit ?? agoUnit;
    if (by === "year") words.push(String(year + sign * count));
    else if (by === "month") words.push(MONTHS[(((month + sign * count) % 12) + 12) % 12]!);
    else if (whole === "yesterday" || whole === "last night")
      words.push(dateWords(new Date(saidAt.getTime() - DAY_MS).toISOString()));
  }
  return words.join(" ");
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
const RELATIVE =
  /\byesterday\b|\blast night\b|\b(last|next) (year|month)\b|\b(a|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}) (year|month)s? ago\b/g;

/** A time span in milliseconds since 1970, end exclusive. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** The days and months a text states with their year; a bare year is left to the index, where it is a term. */
export function statedDates(text: string): TimeRange[] {
  const ranges: TimeRange[] = [];
  for (const match of text.toLowerCase().slice(0, MAX_READ).matchAll(STATED)) {
    const { iso, dayFirst, monthFirst, dayAfter, year } = match.groups ?? {};
    if (iso !== undefined) push(ranges, Date.parse(`${iso}T00:00:00Z`), DAY_MS);
    else {
      const name = (dayFirst ?? monthFirst ?? "").replace(/^\d+(?:[^\s\d]\S*)?\s+(?:of\s+)?/, "");
      const month = MONTHS.findIndex((candidate) => candidate.startsWith(name.slice(0, 3)));
      const day = dayFirst === undefined ? dayAfter : /^\d+/.exec(dayFirst)?.[0];
      if (day !== undefined) push(ranges, Date.UTC(Number(year), month, Number(day)), DAY_MS);
      else ranges.push({ from: Date.UTC(Number(year), month, 1), to: Date.UTC(Number(year), month + 1, 1) });
    }
  }
  return ranges;
}

const MAX_READ = 2_000;
const MONTH_NAME =
  "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
const STATED = new RegExp(
  `\\b(?:(?<iso>\\d{4}-\\d{2}-\\d{2})|(?:(?<dayFirst>\\d{1,2}(?:st|nd|rd|th)?\\s+(?:of\\s+)?${MONTH_NAME})|(?<monthFirst>${MONTH_NAME})(?:\\s+(?<dayAfter>\\d{1,2})(?:st|nd|rd|th)?)?),?\\s+(?<year>\\d{4}))\\b`,
  "g",
);

function push(ranges: TimeRange[], from: number, length: number): void {
  if (!Number.isNaN(from)) ranges.push({ from, to: from + length });
}
