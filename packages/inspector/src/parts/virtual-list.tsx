/**
 * A list of any length: only what is in sight is drawn, every row at one height, one of them chosen. It has one place in the
 * order of the Tab key; arrows, page keys, Home and End move in it, Enter opens.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { drawnRows, rowAfter, topShowing } from "./rows.ts";

interface VirtualListProps {
  readonly label: string;
  readonly count: number;
  readonly rowHeight: number;
  readonly chosen: number;
  readonly onChoose: (row: number) => void;
  readonly onOpen?: (row: number) => void;
  /** Several rows, from the anchor to the one that is chosen: with Shift, and dragged together. */
  readonly picking?:
    | {
        readonly anchor: number | null;
        readonly onRange: (anchor: number, row: number) => void;
        /** Null: what was dragged is let go. */
        readonly onDrag: (row: number | null) => void;
      }
    | undefined;
  /** Chosen by hand, not by key. */
  readonly onPoint?: () => void;
  readonly keyOf?: (row: number) => string;
  readonly row: (row: number) => ComponentChildren;
  /** Told which rows are in sight, to load what they show. */
  readonly onSight?: (first: number, end: number) => void;
  /** Told again when this changes. */
  readonly sight?: string;
  readonly class?: string;
}

export function VirtualList(props: VirtualListProps) {
  const { label, count, rowHeight, chosen, onChoose, onOpen, keyOf = String, row, onSight, sight, picking } = props;
  const element = useRef<HTMLDivElement>(null);
  const id = useId();
  const [seen, setSeen] = useState({ top: 0, height: 600 });
  const { first, end } = drawnRows({ ...seen, rowHeight, count });
  useLayoutEffect(() => {
    const list = element.current!;
    const measure = () => setSeen({ top: list.scrollTop, height: list.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(list);
    return () => observer.disconnect();
  }, []);
  useEffect(() => onSight?.(first, end), [first, end, count, sight]);
  const choose = (next: number, isRange: boolean) => {
    const list = element.current!;
    list.scrollTop = topShowing(next, { top: list.scrollTop, height: list.clientHeight, rowHeight });
    pick(next, isRange);
  };
  const pick = (next: number, isRange: boolean) => {
    if (isRange && picking !== undefined && chosen >= 0) picking.onRange(picking.anchor ?? chosen, next);
    else onChoose(next);
  };
  const start = picking?.anchor ?? chosen;
  const isChosen = (at: number) => at >= Math.min(start, chosen) && at <= Math.max(start, chosen);
  return (
    <div
      ref={element}
      class={`list ${props.class ?? ""}`}
      role="listbox"
      aria-label={label}
      aria-multiselectable={picking === undefined ? undefined : true}
      tabIndex={0}
      aria-activedescendant={chosen >= first && chosen < end ? `${id}-${chosen}` : undefined}
      onScroll={(event) => setSeen({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}
      onKeyDown={(event) => {
        const page = Math.max(1, Math.floor(seen.height / rowHeight) - 1);
        const next = rowAfter(event.key, chosen, { count, page });
        if (event.key === "Enter" && chosen >= 0) onOpen?.(chosen);
        else if (next !== null) choose(next, event.shiftKey);
        else return;
        event.preventDefault();
      }}
    >
      <div class="list-all" role="presentation" style={{ height: `${count * rowHeight}px` }}>
        {Array.from({ length: end - first }, (_, offset) => {
          const at = first + offset;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the list's
            <div
              key={keyOf(at)}
              id={`${id}-${at}`}
              class="list-row"
              role="option"
              tabIndex={-1}
              aria-selected={isChosen(at)}
              aria-posinset={at + 1}
              aria-setsize={count}
              style={{ top: `${at * rowHeight}px`, height: `${rowHeight}px` }}
              draggable={picking !== undefined}
              onDragStart={(event) => {
                event.dataTransfer?.setData("text/plain", keyOf(at));
                picking?.onDrag(at);
              }}
              onDragEnd={() => picking?.onDrag(null)}
              onClick={(event) => {
                pick(at, event.shiftKey);
                props.onPoint?.();
              }}
              onDblClick={() => onOpen?.(at)}
            >
              {row(at)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
