/**
 * Where one is on the page, as a value, and the address it has. Every place has an address that leads back to it; an
 * address that leads nowhere is a place of its own. Knows no browser.
 */
export const VIEWS = ["threads", "window", "timeline", "chat", "memory", "requests", "lab", "map"] as const;

export type View = (typeof VIEWS)[number];

export interface Place {
  readonly view: View | "nowhere";
  /** The thread, or in `requests` the request; null: none is chosen. */
  readonly id: string | null;
  /** What is open or selected there: `?seq=12`. */
  readonly query: Readonly<Record<string, string>>;
}

const OF_THREAD: ReadonlySet<string> = new Set(["window", "timeline", "chat", "map"]);

/** Whether a view shows one thread. */
export function isOfThread(view: Place["view"]): boolean {
  return OF_THREAD.has(view);
}

/** `path` is as the address has it: percent signs and all. */
export function placeOf(path: string, search = ""): Place {
  const query = Object.fromEntries(new URLSearchParams(search));
  const [first = "", second, third = "window", ...more] = path.split("/").filter((part) => part !== "");
  const id = second === undefined ? null : decoded(second);
  const place = (view: Place["view"]): Place => ({ view, id, query });
  if (more.length > 0 || (second !== undefined && id === null)) return place("nowhere");
  if (first === "" || (first === "threads" && id === null)) return place("threads");
  if (first === "threads") return OF_THREAD.has(third) ? place(third as View) : place("nowhere");
  if (id === null && VIEWS.includes(first as View)) return place(first as View);
  return first === "requests" && path.split("/").length === 3 ? place("requests") : place("nowhere");
}

export function addressOf(view: View, id: string | null = null, query: Place["query"] = {}): string {
  const text = new URLSearchParams(query).toString();
  return pathOf(view, id) + (text === "" ? "" : `?${text}`);
}

function pathOf(view: View, id: string | null): string {
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
