/** What the views of one thread share: where none is chosen, where it is not read yet, and where it can't be. */
import type { ComponentType } from "preact";
import type { Held } from "../api/answer.ts";
import { isEveryThread, threads } from "../api/threads.ts";
import { Empty } from "../parts/empty.tsx";
import { ProblemNote } from "../parts/problem.tsx";
import { nameOf } from "../parts/tree.ts";
import { place } from "../router/navigate.ts";
import { addressOf, SHOWS } from "../router/place.ts";
import { ago, visible } from "../text/format.ts";
import { Beginnings } from "./threads/beginnings.tsx";

/** The view of the thread in the address: begun anew with each. */
export function ofThread(View: ComponentType<{ readonly id: string }>): ComponentType {
  return () => {
    const { id } = place.value;
    return id === null ? <NoThread /> : <View key={id} id={id} />;
  };
}

const MOST = 8;

/** The newest to choose from, or how to get a first one. */
function NoThread() {
  const { view } = place.value;
  const lead = view === "nowhere" ? "" : SHOWS[view];
  const newest = [...threads.value.values()].toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1)).slice(0, MOST);
  if (newest.length === 0 && isEveryThread.value) return <Beginnings of="view" lead={lead} />;
  return (
    <Empty of="view" title="Choose a thread">
      <p>{lead}</p>
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

interface UnreadProps {
  readonly id: string;
  /** As the view is called: the rules. */
  readonly what: string;
  readonly held: Pick<Held<unknown>, "problem" | "reload">;
}

/** Stands there until something of the thread was read. */
export function Unread({ id, what, held: { problem, reload } }: UnreadProps) {
  if (problem?.status === 404)
    return (
      <Empty of="view" title="There is no such thread">
        <p>
          “{visible(id)}” was deleted, or never was yours. The{" "}
          <a class="link" href="/threads">
            threads
          </a>{" "}
          that there are.
        </p>
      </Empty>
    );
  return (
    <>
      <h1 class={problem === null ? "hidden" : "cut"}>{visible(id)}</h1>
      {problem === null ? (
        <p class="dim pad" role="status">
          Reading {what}…
        </p>
      ) : (
        <ProblemNote problem={problem} retry={reload} />
      )}
    </>
  );
}
