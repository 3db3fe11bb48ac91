/**
 * What a person may change in a summary: the items of the typed state, and the lines of its prose (`p1`, `p2`). Decides
 * what an edit is and what the state is with edits; the text that the prompt shows is edited by `log/apply-prune.ts`.
 * The user's quoted words and the ledger of files and commands are copies of the log and are not edited.
 */
import type { ShownEdit } from "../log/apply-prune.ts";
import { oneLine } from "../text/names.ts";
import { SECTION_HEADINGS } from "./render.ts";
import {
  editedState,
  MAX_ITEM_CHARS,
  neutralize,
  proseLines,
  SECTIONS,
  type SummarySection,
  type SummaryState,
} from "./state.ts";

export interface EditableItem {
  readonly id: string;
  readonly section: SummarySection | "prose";
  readonly text: string;
  readonly status: "open" | "done" | "obsolete";
}

export type SummaryChange =
  | { readonly act: "edit"; readonly item: string; readonly text: string }
  | { readonly act: "add"; readonly section: SummarySection; readonly text: string }
  | { readonly act: "delete"; readonly item: string };

type PlannedEdit =
  | { readonly kind: "edit"; readonly edit: ShownEdit }
  | { readonly kind: "refused"; readonly problem: string };

/** Everything that can be changed, in the order of the sections. */
export function editableItems(state: SummaryState): EditableItem[] {
  const prose = proseLines(state).map((text, index) => ({
    id: `p${index + 1}`,
    section: "prose" as const,
    text,
    status: "open" as const,
  }));
  const items = SECTIONS.flatMap((section) =>
    state.sections[section].map(({ id, text, status = "open" }) => ({ id, section, text, status })),
  );
  return [...prose, ...items];
}

/** `edits`: those that stand already. A person's approval is spent in a summary as any other. */
export function planEdit(state: SummaryState, edits: readonly ShownEdit[], change: SummaryChange): PlannedEdit {
  const now = editedState(state, edits);
  const text = change.act === "delete" ? "" : neutralize(oneLine(change.text, MAX_ITEM_CHARS), "user").text;
  if (change.act !== "delete" && text === "") return refused("an item needs at least one word");
  if (change.act === "add") {
    const ids = [...editableItems(now).map(({ id }) => id), ...edits.map(({ item }) => item)];
    const last = Math.max(state.nextId - 1, ...ids.map((id) => Number(id.slice(1)) || 0));
    const item = `${change.section === "now" ? "w" : change.section[0]}${last + 1}`;
    return {
      kind: "edit",
      edit: { item, was: null, section: change.section, heading: SECTION_HEADINGS[change.section], text },
    };
  }
  const shown = editableItems(now).find(({ id }) => id === change.item);
  if (shown === undefined) {
    const known = editableItems(now).slice(0, 8);
    const names = known.length === 0 ? "it has none" : `for example ${known.map(({ id }) => id).join(", ")}`;
    return refused(`the summary has no item ${JSON.stringify(change.item.slice(0, 40))}: ${names}`);
  }
  if (shown.text === text) return refused(`item ${shown.id} says that already`);
  const written = editableItems(state).find(({ id }) => id === shown.id);
  const heading = shown.section === "prose" ? "Summary" : SECTION_HEADINGS[shown.section];
  const { id: item, section } = shown;
  return { kind: "edit", edit: { item, was: written?.text ?? null, section, heading, text } };
}

function refused(problem: string): Extract<PlannedEdit, { kind: "refused" }> {
  return { kind: "refused", problem };
}
