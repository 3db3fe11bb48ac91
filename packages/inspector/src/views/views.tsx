/** The table of views: what each is called, and what draws it. A view reads its place itself. */
import "./views.css";
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { Empty } from "../parts/empty.tsx";
import type { PageView } from "../router/place.ts";
import { ThreadsView } from "./threads/threads-view.tsx";
import { WindowView } from "./window/window-view.tsx";

interface ViewRow {
  readonly title: string;
  readonly component: ComponentType;
}

export const views: Readonly<Record<PageView, ViewRow>> = {
  threads: { title: "Threads", component: ThreadsView },
  window: { title: "Window", component: WindowView },
  timeline: later("timeline", "Timeline"),
  chat: later("chat", "Chat"),
  map: later("map", "Map"),
  rules: later("rules", "Rules"),
  memory: later("memory", "Memory"),
  requests: later("requests", "Requests"),
  lab: later("lab", "Lab"),
};

type LaterViews = typeof import("./opened-later.ts").openedLater;

/** Draws only its heading until the file of the views is loaded. */
function later(name: keyof LaterViews, title: string): ViewRow {
  const component = () => {
    const state = fetched.value;
    useEffect(() => {
      if (fetched.value === "not-asked") fetchViews("failed");
    }, [state]);
    if (state === "failed") return <NotLoaded />;
    if (typeof state === "string") return <h1 class="hidden">{title}</h1>;
    const View = state[name];
    return <View />;
  };
  return { title, component };
}

const fetched = signal<LaterViews | "not-asked" | "under-way" | "failed">("not-asked");

/** Soon after the first view: whoever opens another types at once. */
addEventListener("load", () => setTimeout(() => fetched.value === "not-asked" && fetchViews("not-asked"), 500));

function fetchViews(otherwise: "failed" | "not-asked"): void {
  fetched.value = "under-way";
  import("./opened-later.ts").then(
    ({ openedLater }) => (fetched.value = openedLater),
    () => (fetched.value = otherwise),
  );
}

/** The gateway is away, or was updated and has the files of another version. */
function NotLoaded() {
  return (
    <Empty of="view" title="This view could not be loaded">
      <p>The gateway can't be reached, or it was updated since this page was opened.</p>
      <button type="button" class="button" onClick={() => location.reload()}>
        Load the page again
      </button>
    </Empty>
  );
}
