/** The threads as a tree, one of them chosen: in the view of its own and beside the others. */
import { ago, grouped, visible } from "../text/format.ts";
import type { ThreadRow } from "../text/thread-row.ts";
import { type Branch, nameOf } from "./tree.ts";
import { VirtualList } from "./virtual-list.tsx";

interface ThreadListProps {
  readonly branches: readonly Branch[];
  readonly chosen: string | null;
  readonly now: Date;
  readonly onChoose: (threadId: string) => void;
  readonly onOpen?: (threadId: string) => void;
}

const ROW = 46;

export function ThreadList({ branches, chosen, now, onChoose, onOpen }: ThreadListProps) {
  const idAt = (row: number) => branches[row]!.thread.id;
  return (
    <VirtualList
      class="threads"
      label="Threads"
      count={branches.length}
      rowHeight={ROW}
      chosen={branches.findIndex(({ thread }) => thread.id === chosen)}
      onChoose={(row) => onChoose(idAt(row))}
      {...(onOpen !== undefined && { onOpen: (row: number) => onOpen(idAt(row)) })}
      keyOf={idAt}
      row={(at) => <ThreadItem branch={branches[at]!} now={now} />}
    />
  );
}

function ThreadItem({ branch: { thread, depth }, now }: { readonly branch: Branch; readonly now: Date }) {
  return (
    <div class="thread" style={{ paddingLeft: `${8 + depth * 16}px` }}>
      <span class="cut" dir="auto">
        {visible(nameOf(thread))}
      </span>
      <span class="dim number">{grouped(thread.messages)}</span>
      <small class="dim cut">
        {thread.run != null && <span class="running">running</span>}
        {thread.title !== null && <span class="mono">{visible(thread.id)} · </span>}
        {relation(thread)}
        {ago(thread.updatedAt, now)}
      </small>
    </div>
  );
}

function relation({ kind, parent, forkedAt }: ThreadRow): string {
  if (kind === "subagent") return "sub-agent · ";
  return parent === null ? "" : `fork at #${forkedAt ?? 0} · `;
}
