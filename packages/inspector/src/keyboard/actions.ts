/**
 * What can be done where one is, for the palette and the keyboard. A view offers its actions while it is shown; a letter
 * alone does one, except in a text field.
 */
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

export interface Action {
  readonly name: string;
  /** One key, without others held. */
  readonly key?: string;
  run(): void;
}

export const offered = signal<readonly Action[]>([]);

/** While the component is shown, from the moment its buttons are: no key is lost. `when` names what the actions depend on. */
export function useActions(actions: readonly Action[], when: string): void {
  useLayoutEffect(() => {
    offered.value = [...offered.peek(), ...actions];
    return () => {
      offered.value = offered.peek().filter((action) => !actions.includes(action));
    };
  }, [when]);
}

/** Whether a key press is meant for a text, or for the browser. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return true;
  const target = event.target as HTMLElement | null;
  return target?.closest?.("input, textarea, select, dialog, [contenteditable]") != null;
}
