/** As `GET /api/threads` gives it; `run`: one is under way on it. */
export interface ThreadRowText {
  readonly id: string;
  readonly title: string | null;
  readonly messages: number;
  readonly updatedAt: string;
  readonly parent: string | null;
  readonly forkedAt: number | null;
  readonly kind: "main" | "subagent";
  readonly run?: string | null;
}
