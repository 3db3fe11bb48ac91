/** A form of the page: it is sent by its button and, from any of its fields, by Ctrl+Enter. */
import type { ComponentChildren } from "preact";

interface FormProps {
  readonly class: string;
  readonly label?: string;
  readonly onSend: () => unknown;
  /** What Escape does in it; absent: nothing. */
  readonly onEscape?: () => void;
  readonly children: ComponentChildren;
}

export function Form({ class: className, label, onSend, onEscape, children }: FormProps) {
  return (
    <form
      class={className}
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onEscape?.();
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        // A button that is disabled sends nothing.
        event.currentTarget.querySelector<HTMLButtonElement>("[type=submit]")?.click();
      }}
    >
      {children}
    </form>
  );
}

/** As the `ref` of a field: it has the focus when it appears. */
export function focusNew(field: HTMLElement | null): void {
  field?.focus();
}
