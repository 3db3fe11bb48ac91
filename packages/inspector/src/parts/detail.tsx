/** What is chosen, beside the list it is chosen from. It scrolls by itself, so the keyboard has to reach it. */
import type { ComponentChildren } from "preact";

export function Detail({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by Tab
    <section class="card detail stack" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
