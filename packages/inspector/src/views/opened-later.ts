/** The views that the page is seldom opened at: one file of the page, which is fetched when one of them is opened. */
import { ChatView } from "./chat/chat-view.tsx";
import { LabView } from "./lab/lab-view.tsx";
import { MapView } from "./map/map-view.tsx";
import { MemoryView } from "./memory/memory-view.tsx";
import { RequestsView } from "./requests/requests-view.tsx";
import { RulesView } from "./rules/rules-view.tsx";
import { TimelineView } from "./timeline/timeline-view.tsx";

export const openedLater = {
  timeline: TimelineView,
  chat: ChatView,
  map: MapView,
  rules: RulesView,
  memory: MemoryView,
  requests: RequestsView,
  lab: LabView,
};
