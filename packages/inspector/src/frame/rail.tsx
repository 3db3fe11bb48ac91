/** The threads beside the view of one of them, where there is room. */
import { useComputed } from "@preact/signals";
import { threads } from "../api/threads.ts";
import { ThreadList } from "../parts/thread-list.tsx";
import { branchesOf } from "../parts/tree.ts";
import { go, place } from "../router/navigate.ts";
import { isOfThread } from "../router/place.ts";

export function Rail() {
  const branches = useComputed(() => branchesOf(threads.value.values()));
  const { view, id } = place.value;
  if (view === "nowhere" || !isOfThread(view) || branches.value.length === 0) return null;
  return (
    <aside class="rail" aria-label="Threads">
      <ThreadList branches={branches.value} chosen={id} now={new Date()} onChoose={(threadId) => go(view, threadId)} />
    </aside>
  );
}
