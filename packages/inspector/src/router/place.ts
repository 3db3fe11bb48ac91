/**
 * Where one is on the page, as a value, and the address it has. Every place has an address that leads back to it; an
 * address that leads nowhere is a place of its own. Knows no browser.
 */
export const VIEWS = ["threads", "window", "timeline", "chat", "map", "rules", "memory", "requests", "lab"] as const;

export type PageView = (typeof VIEWS)[number];

/** What each view is for, in one sentence. */
export const SHOWS: Readonly<Record<PageView, string>> = {
  threads: "All threads, and a search of everything ever said.",
  window: "What fills the prompt of a thread, and why.",
  timeline: "How the prompt grew and was compacted, request by request.",
  chat: "Talk to a thread.",
  map: "What was talked about in a thread, day by day.",
  rules: "What always stands in the prompt of a thread: standing rules, and the model's notes.",
  memory: "What is remembered about you, in every thread.",
  requests: "What clients sent to /v1, and what the provider got of it.",
  lab: "What other compaction policies would have made of a conversation.",
};

export interface PagePlace {
  readonly view: PageView | "nowhere";
  /** The thread, or in `requests` the request; null: none is chosen. */
  readonly id: string | null;
  /** What is open or selected there: `?seq=12`. */
  readonly query: Readonly<Record<string, string>>;
}

const OF_THREAD: ReadonlySet<string> = new Set(["window", "timeline", "chat", "map", "rules"]);

/** Whether a view shows one thread. */
export function isOfThread(view: PagePlace["view"]): boolean {
  return OF_THREAD.has(view);
}

/** `path` is as the address has it: percent signs and all. */
export function placeOf(path: string, search = ""): PagePlace {
  const query = Object.fromEntries(new URLSearchParams(search));
  const [first = "", second, third = "window", ...more] = path.split("/").filter((part) => part !== "");
  const id = second === undefined ? null : decoded(second);
  const place = (view: PagePlace["view"]): PagePlace => ({ view, id, query });
  if (more.length > 0 || (second !== undefined && id === null)) return place("nowhere");
  if (first === "" || (first === "threads" && id === null)) return place("threads");
  if (first === "threads") return OF_THREAD.has(third) ? place(third as PageView) : place("nowhere");
  if (id === null && VIEWS.includes(first as PageView)) return place(first as PageView);
  return first === "requests" && path.split("/").length === 3 ? place("requests") : place("nowhere");
}

export function addressOf(view: PageView, id: string | null = null, query: PagePlace["query"] = {}): string {
  const text = new URLSearchParams(query).toString();
  return pathOf(view, id) + (text === "" ? "" : `?${text}`);
}

function pathOf(view: PageView, id: string | null): string {
  if (view === "threads") return "/threads";
  if (id === null) return `/${view}`;
  return OF_THREAD.has(view) ? `/threads/${encodeURIComponent(id)}/${view}` : `/${view}/${encodeURIComponent(id)}`;
}

/** Null: no text comes of it. */
function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
