/** What a person takes out of the prompt or keeps in it: which messages are meant, and what it comes to before it is done. */
import { signal } from "@preact/signals";
import { type AskAnswer, ask } from "../../api/ask.ts";
import { grouped } from "../../text/format.ts";
import { act } from "./acts.ts";
import type { CutTarget } from "./cut-target.ts";

/** What is dragged now. */
export const draggedTarget = signal<CutTarget | null>(null);

export type CutKind = "hide" | "fold";

/** What is asked before it is done. */
export const proposed = signal<(CutForecast & { readonly kind: CutKind; readonly target: CutTarget }) | null>(null);

type CutForecast = Pick<
  AskAnswer<"POST /api/threads/{id}/hide">,
  "tokensBefore" | "tokensAfter" | "rereads" | "paysAfter"
>;

/** One message is hidden, several are folded. A dry run first: it says what the cut comes to, or why it can't be. */
export async function propose(id: string, kind: CutKind, target: CutTarget): Promise<void> {
  const figures = await act(
    kind,
    () => sendCut(id, kind, target, { dryRun: true }),
    () => "",
  );
  proposed.value = figures === null ? null : { ...figures, kind, target };
}

export async function cut(id: string, kind: CutKind, target: CutTarget, report: string): Promise<void> {
  proposed.value = null;
  const words = report.trim() === "" ? {} : { report: report.trim() };
  await act(
    kind,
    () => sendCut(id, kind, target, words),
    ({ seq, tokensBefore, tokensAfter }) =>
      `${kind === "hide" ? "Hidden" : "Folded"}: ${grouped(tokensBefore - tokensAfter)} tokens less. Undo #${seq} takes it back.`,
  );
}

function sendCut(id: string, kind: CutKind, { from, until }: CutTarget, more: object) {
  const params = { id };
  if (kind === "hide") return ask("POST /api/threads/{id}/hide", { params, body: { seq: from, ...more } });
  return ask("POST /api/threads/{id}/compact-range", { params, body: { from, until, ...more } });
}

export async function showAgain(id: string, { from, until }: CutTarget): Promise<void> {
  await act(
    "show",
    () => ask("POST /api/threads/{id}/show", { params: { id }, body: { seq: from } }),
    () => (from === until ? `#${from} is shown again.` : `#${from} to #${until} are shown again.`),
  );
}
