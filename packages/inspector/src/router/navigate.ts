/** The place one is at, as a signal, moved by links, the back button and `go`. The only file that touches the history. */
import { effect, signal } from "@preact/signals";
import { addressOf, isOfThread, type PagePlace, type PageView, placeOf } from "./place.ts";

export const place = signal<PagePlace>(placeOf(location.pathname, location.search));

/** The thread that is open, or was last; null: none was yet. */
export const lastThread = signal<string | null>(null);

effect(() => {
  const { view, id } = place.value;
  if (isOfThread(view) && id !== null) lastThread.value = id;
});

addEventListener("popstate", () => {
  place.value = placeOf(location.pathname, location.search);
});

/** Links of the page itself don't load it again, except in a new tab. */
document.addEventListener("click", (event) => {
  const link = (event.target as Element | null)?.closest?.("a[href]") as HTMLAnchorElement | null;
  if (link === null || event.defaultPrevented || event.button !== 0 || link.target !== "") return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.hasAttribute("download")) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || /^\/(?:api|v1|metrics|openapi)/.test(url.pathname)) return;
  event.preventDefault();
  move(url.pathname + url.search, "push");
});

export function go(view: PageView, id: string | null = null, query: PagePlace["query"] = {}): void {
  move(addressOf(view, id, query), "push");
}

/** What is selected, kept in the address without a step of its own in the history. */
export function select(query: PagePlace["query"]): void {
  const { view, id } = place.value;
  if (view !== "nowhere") move(addressOf(view, id, query), "replace");
}

function move(address: string, how: "push" | "replace"): void {
  const url = new URL(address, location.origin);
  if (url.pathname + url.search === location.pathname + location.search) return;
  history[how === "push" ? "pushState" : "replaceState"](null, "", address);
  place.value = placeOf(url.pathname, url.search);
}
