/** What can be done to a thread from its window, each an answer that says what came of it. */
import { signal } from "@preact/signals";
import { type ApiOutcome, type ApiProblem, ask } from "../../api/ask.ts";
import { forgetLines } from "../../api/lines.ts";
import { go } from "../../router/navigate.ts";
import type { Planned } from "./preview.tsx";

/** Beside the buttons: what the last act came to. */
export const told = signal<{ readonly words: string } | { readonly problem: ApiProblem } | null>(null);

/** What is under way; its button waits. */
export const underWay = signal<string | null>(null);

export const planned = signal<Planned | null>(null);

export function closePreview(): void {
  planned.value = null;
}

export async function act<T>(
  name: string,
  work: () => Promise<ApiOutcome<T>>,
  words: (value: T) => string,
): Promise<T | null> {
  underWay.value = name;
  told.value = null;
  const outcome = await work();
  underWay.value = null;
  told.value = outcome.kind === "failed" ? { problem: outcome.problem } : { words: words(outcome.value) };
  return outcome.kind === "ok" ? outcome.value : null;
}

export async function preview(id: string): Promise<void> {
  const plan = await act(
    "preview",
    () => ask("POST /api/threads/{id}/compact", { params: { id }, body: { dryRun: true } }),
    () => "",
  );
  if (plan !== null) planned.value = plan as Planned;
}

export async function compact(id: string, focus: string): Promise<void> {
  planned.value = null;
  const body = focus.trim() === "" ? {} : { focus: focus.trim() };
  await act(
    "compact",
    () => ask("POST /api/threads/{id}/compact", { params: { id }, body }),
    (value) => (value.kind === "compacted" ? "Compacted. Undo takes it back." : "There was nothing to compact."),
  );
}

export async function undo(id: string): Promise<void> {
  await act(
    "undo",
    () => ask("POST /api/threads/{id}/undo", { params: { id }, body: {} }),
    ({ undone }) => `#${undone} is taken back: everything it hid is shown again.`,
  );
}

export async function redo(id: string): Promise<void> {
  await act(
    "redo",
    () => ask("POST /api/threads/{id}/redo", { params: { id }, body: {} }),
    () => "It stands again.",
  );
}

export async function pin(id: string, seq: number, on: boolean): Promise<void> {
  await act(
    "pin",
    () => ask("POST /api/threads/{id}/pin", { params: { id }, body: { seq, on } }),
    () => (on ? `#${seq} is pinned: every summary quotes it.` : `#${seq} is no longer pinned.`),
  );
}

export async function fork(id: string, at: number): Promise<void> {
  const made = await act(
    "fork",
    () => ask("POST /api/threads/{id}/fork", { params: { id }, body: { at } }),
    ({ parent }) => `This is the fork of ${parent} at #${at}.`,
  );
  if (made !== null) go("window", made.thread);
}

export async function redact(id: string, seq: number): Promise<void> {
  await act(
    "redact",
    () => ask("POST /api/threads/{id}/redact", { params: { id }, body: { seq } }),
    ({ summaries, quotedIn }) =>
      `The words of #${seq} are erased.${summaryWords(summaries)}${quotedWords(id, quotedIn)}`,
  );
  forgetLines(id);
}

const MOST_NAMED = 12;

function quotedWords(id: string, places: readonly string[]): string {
  const words = places.map((place) => (place.startsWith(`${id}#`) ? place.slice(id.length) : place));
  const more = words.length > MOST_NAMED ? ` and ${words.length - MOST_NAMED} more` : "";
  return words.length === 0 ? "" : ` Later messages still quote them: ${words.slice(0, MOST_NAMED).join(", ")}${more}.`;
}

function summaryWords({ rebuilt, erased }: { readonly rebuilt: number; readonly erased: number }): string {
  if (rebuilt + erased === 0) return "";
  return erased > 0 ? " A summary went with them." : " The summary was made anew from the messages that are left.";
}
