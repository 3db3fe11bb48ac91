/** As `GET /api/threads` gives it; `run`: one is under way on it. */
import type { AskAnswer } from "../api/ask.ts";

export interface ThreadRowText extends Omit<AskAnswer<"GET /api/threads">["threads"][number], "user" | "agent"> {
  readonly run?: string | null;
}
