/** A view of a thread, where none is chosen: the newest to choose from, or how to get a first one. */
import { isEveryThread, threads } from "../../api/threads.ts";
import { Empty } from "../../parts/empty.tsx";
import { nameOf } from "../../parts/tree.ts";
import { place } from "../../router/navigate.ts";
import { addressOf } from "../../router/place.ts";
import { ago, visible } from "../../text/format.ts";
import { Beginnings } from "../threads/beginnings.tsx";

const MOST = 8;

export function NoThread() {
  const { view } = place.value;
  const newest = [...threads.value.values()].toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1)).slice(0, MOST);
  if (newest.length === 0 && isEveryThread.value) return <Beginnings of="view" />;
  return (
    <Empty of="view" title="Choose a thread">
      <ul class="card flush choices">
        {newest.map((thread) => (
          <li key={thread.id}>
            <a class="row" href={addressOf(view === "nowhere" ? "window" : view, thread.id)}>
              <span class="cut" dir="auto">
                {visible(nameOf(thread))}
              </span>
              <span class="push dim small nowrap">{ago(thread.updatedAt, new Date())}</span>
            </a>
          </li>
        ))}
      </ul>
      <p>
        <a class="link" href="/threads">
          All threads
        </a>
      </p>
    </Empty>
  );
}
