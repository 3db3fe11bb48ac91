/** The table of views: what each is called, and what draws it. A view reads its place itself. */
import type { ComponentType } from "preact";
import type { PageView } from "../router/place.ts";
import { ChatView } from "./chat/chat-view.tsx";
import { LabView } from "./lab/lab-view.tsx";
import { MapView } from "./map/map-view.tsx";
import { MemoryView } from "./memory/memory-view.tsx";
import { RequestsView } from "./requests/requests-view.tsx";
import { RulesView } from "./rules/rules-view.tsx";
import { ThreadsView } from "./threads/threads-view.tsx";
import { TimelineView } from "./timeline/timeline-view.tsx";
import { WindowView } from "./window/window-view.tsx";

interface ViewRow {
  readonly title: string;
  readonly component: ComponentType;
}

export const views: Readonly<Record<PageView, ViewRow>> = {
  threads: { title: "Threads", component: ThreadsView },
  window: { title: "Window", component: WindowView },
  timeline: { title: "Timeline", component: TimelineView },
  chat: { title: "Chat", component: ChatView },
  map: { title: "Map", component: MapView },
  rules: { title: "Rules", component: RulesView },
  memory: { title: "Memory", component: MemoryView },
  requests: { title: "Requests", component: RequestsView },
  lab: { title: "Lab", component: LabView },
};
