/** A place without anything to show says what to do. */
import type { ComponentChildren } from "preact";

interface EmptyProps {
  readonly title: string;
  /** The whole view is empty: then this is its heading. */
  readonly of?: "view" | "part";
  readonly children?: ComponentChildren;
}

export function Empty({ title, of = "part", children }: EmptyProps) {
  return (
    <div class="empty">
      {of === "view" ? <h1>{title}</h1> : <strong>{title}</strong>}
      {children}
    </div>
  );
}
