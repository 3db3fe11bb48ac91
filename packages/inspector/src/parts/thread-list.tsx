/** The threads as a tree, one of them chosen: in the view of its own and beside the others. */
import type { ComponentChildren } from "preact";
import type { ThreadFacts } from "../api/thread-facts.ts";
import { ago, dollars, grouped, visible } from "../text/format.ts";
import type { ThreadRowText } from "../text/thread-row.ts";
import { fullnessWords } from "./bar.ts";
import { nameOf, type TreeBranch } from "./tree.ts";
import { VirtualList } from "./virtual-list.tsx";

interface ThreadListProps {
  /** With how full each is, what it cost and which model answered; without it only names are listed. */
  readonly facts?: ReadonlyMap<string, ThreadFacts>;
  /** Told which threads are in sight. */
  readonly onSight?: (rows: readonly ThreadRowText[]) => void;
  readonly branches: readonly TreeBranch[];
  readonly chosen: string | null;
  readonly now: Date;
  readonly onChoose: (threadId: string) => void;
  readonly onOpen?: (threadId: string) => void;
}

const ROW = 46;
const FULL_ROW = 54;

export function ThreadList({ facts, onSight, branches, chosen, now, onChoose, onOpen }: ThreadListProps) {
  const idAt = (row: number) => branches[row]!.thread.id;
  return (
    <VirtualList
      class={`threads ${facts === undefined ? "" : "full"}`}
      label="Threads"
      count={branches.length}
      rowHeight={facts === undefined ? ROW : FULL_ROW}
      chosen={branches.findIndex(({ thread }) => thread.id === chosen)}
      onChoose={(row) => onChoose(idAt(row))}
      {...(onOpen !== undefined && { onOpen: (row: number) => onOpen(idAt(row)) })}
      keyOf={idAt}
      {...(onSight !== undefined && {
        sight: branches.map(({ thread }) => thread.updatedAt).reduce((a, b) => (a > b ? a : b), ""),
        onSight: (first: number, end: number) => onSight(branches.slice(first, end).map(({ thread }) => thread)),
      })}
      row={(at) => {
        const branch = branches[at]!;
        return (
          <ThreadItem branch={branch} now={now} isFull={facts !== undefined}>
            {facts !== undefined && <Facts facts={facts.get(branch.thread.id) ?? null} />}
          </ThreadItem>
        );
      }}
    />
  );
}

const HEADS = 29;
const FRAME = 2;
const NONE_ROWS = 2;

/** Of the list with facts, its heads and its frame: it needs no more room than its rows, or what says that there are none. */
export function heightOfThreads(count: number): number {
  return HEADS + FRAME + FULL_ROW * (count || NONE_ROWS);
}

/** Above the list with facts; the rows say the same to screen readers. */
export function ThreadHeads() {
  return (
    <div class="threads full thread-heads dim small" aria-hidden="true">
      <div class="thread">
        <span>thread</span>
        <span class="thread-facts">
          <span>window</span>
          <span />
          <span class="money">cost</span>
          <span class="model">model</span>
        </span>
        <span class="count">messages</span>
      </div>
    </div>
  );
}

interface ThreadItemProps {
  readonly branch: TreeBranch;
  readonly now: Date;
  /** With its id. */
  readonly isFull: boolean;
  readonly children: ComponentChildren;
}

function ThreadItem({ branch: { thread, depth, isTwin }, now, isFull, children }: ThreadItemProps) {
  const isNamed = isFull && thread.title !== null;
  return (
    <div class="thread" style={{ paddingLeft: `${12 + depth * 16}px` }}>
      <span class="cut" dir="auto">
        {isTwin ? `Fork at #${thread.forkedAt}` : visible(nameOf(thread))}
      </span>
      {children}
      <span class="dim number count" title={`${grouped(thread.messages)} messages`}>
        {grouped(thread.messages)}
      </span>
      <small class="dim">
        {thread.run != null && <span class="running">running</span>}
        {isNamed && <span class="mono cut">{visible(thread.id)}</span>}
        <span>
          {isNamed && " · "}
          {!isTwin && relation(thread)}
          <time dateTime={thread.updatedAt} title={thread.updatedAt}>
            {ago(thread.updatedAt, now)}
          </time>
        </span>
      </small>
    </div>
  );
}

function relation({ kind, parent, forkedAt }: ThreadRowText): string {
  if (kind === "subagent") return "sub-agent · ";
  return parent === null ? "" : `fork at #${forkedAt ?? 0} · `;
}

function Facts({ facts }: { readonly facts: ThreadFacts | null }) {
  if (facts === null) return <span class="thread-facts" />;
  const { total, window, cost, model } = facts;
  const share = total / Math.max(window, 1);
  return (
    <span class="thread-facts small number">
      <span class={`gauge ${share > 1 ? "over" : ""}`} title={`${grouped(total)} of ${grouped(window)} tokens`}>
        <span class="gauge-fill" style={{ width: `${Math.min(1, share) * 100}%` }} />
        {share > 1 && <i style={{ left: `${100 / share}%` }} />}
      </span>
      <span class={share > 1 ? "bad" : "dim"}>{fullnessWords(total, window)}</span>
      <span class="dim money">{cost === null ? "" : dollars(cost)}</span>
      <span class="dim cut model">{model === null ? "" : visible(model)}</span>
    </span>
  );
}
