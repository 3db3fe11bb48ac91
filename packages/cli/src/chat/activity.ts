import type { Phase } from "./input.ts";

/** What goes on in a chat while a person waits. */
export interface Activity {
  readonly phase: Phase;
  /** `thinking`, a tool and what it was given. */
  readonly doing: string;
  /** How full the window is; empty while nobody knows. */
  readonly budget: string;
}
