/** A place without anything to show says what to do. */
import type { ComponentChildren } from "preact";

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}
