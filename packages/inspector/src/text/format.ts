/** Figures, times and texts as people read them. Pure; the moment is an argument. */

/** `12,345` */
export function grouped(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

/** `1 request`, `2,000 requests` */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `1.2k`, `34k`, `1.2M` */
export function short(count: number): string {
  if (Math.abs(count) < 1000) return String(Math.round(count));
  const [size, unit] = Math.abs(count) < 999_500 ? [count / 1000, "k"] : [count / 1e6, "M"];
  return `${Math.abs(size) < 9.95 ? size.toFixed(1).replace(/\.0$/, "") : Math.round(size)}${unit}`;
}

/** `12 %`; a little is never told as nothing. */
export function percent(share: number): string {
  if (share > 0 && share < 0.005) return "< 1 %";
  return `${Math.round(share * 100)} %`;
}

/** Dollars; fractions of a cent keep two digits that say something. */
export function dollars(amount: number): string {
  if (amount === 0) return "$0";
  return `$${amount.toFixed(amount >= 0.1 ? 2 : amount >= 0.001 ? 4 : 6)}`;
}

/** `2 minutes ago`, `yesterday`, `Nov 12`, `Nov 12, 2024` */
export function ago(at: string, now: Date): string {
  const then = new Date(at);
  const seconds = (now.getTime() - then.getTime()) / 1000;
  if (Number.isNaN(seconds)) return at;
  if (seconds < 45) return "just now";
  if (seconds < 3600) return plural(Math.max(1, Math.round(seconds / 60)), "minute");
  if (seconds < 86_400) return plural(Math.round(seconds / 3600), "hour");
  if (seconds < 172_800) return "yesterday";
  const year = then.getFullYear() === now.getFullYear() ? {} : ({ year: "numeric" } as const);
  return then.toLocaleDateString("en-US", { month: "short", day: "numeric", ...year });
}

/** A moment among others: its time where they lie within a day and a half (to the second within ten minutes), else its date. `span` is in milliseconds. */
export function moment(at: string, span: number): string {
  const then = new Date(at);
  if (Number.isNaN(then.getTime())) return at;
  if (span > 1.5 * 86_400_000) return then.toLocaleDateString("en-US", { month: "short", day: "numeric" });
  const seconds = span < 600_000 ? ({ second: "2-digit" } as const) : {};
  return then.toLocaleTimeString("en-US", { hour: "2-digit", minute: "2-digit", ...seconds, hourCycle: "h23" });
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"} ago`;
}

/** One line of at most so many characters; characters that move or hide text are shown as what they are. */
export function line(text: string, most = 300): string {
  const start = text
    .slice(0, most * 2)
    .replaceAll(/\s+/g, " ")
    .trim();
  const cut = [...start].slice(0, most).join("");
  return visible(cut) + (cut.length < start.length || text.length > most * 2 ? "…" : "");
}

/** Of a long text two thirds of `most` from its beginning and one from its end, and how much is left out between them. */
export function bothEnds(text: string, most: number): string {
  const left = text.length - most;
  if (left <= 0) return text;
  const tail = Math.floor(most / 3);
  return `${text.slice(0, most - tail)}\n\n… ${grouped(left)} characters left out …\n\n${text.slice(-tail)}`;
}

/** Control characters, those that turn the direction of text and those that take no room, as signs that can be seen. Tabs and line ends stay. */
export function visible(text: string): string {
  return text.replaceAll(HIDDEN, (sign) => {
    const code = sign.codePointAt(0)!;
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd";
  });
}

const HIDDEN = /(?![\t\n\r])[\p{Cc}\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/gu;
