/** Why an entry stands in the window, in words a person reads. Pure. */

import { grouped } from "./format.ts";

/** As `GET /api/threads/{id}/window` gives it. */
export interface EntryFacts {
  readonly seq: number | null;
  readonly source: "system" | "rules" | "summary" | "acknowledgement" | "request" | "fold" | "message";
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly tokens: number;
  readonly evidence?: number;
  readonly shortened?: readonly string[];
  readonly pinned?: true;
  /** Of a fold: the first and the last record it stands for. */
  readonly folded?: readonly number[];
}

export interface Why {
  readonly label: string;
  readonly sentence: string;
  /** `hot`: the text was changed or added; `quiet`: there is nothing to explain. */
  readonly tone: "quiet" | "plain" | "hot";
}

export function whyOf({ source, shortened, pinned, evidence, folded }: EntryFacts, hidden: number): Why {
  if (source === "summary")
    return {
      label: `summary of #1 to #${hidden}`,
      sentence: `Stands for everything up to record #${hidden}, which the log still has word for word.`,
      tone: "hot",
    };
  if (source === "acknowledgement")
    return { label: "acknowledges it", sentence: "This was not said: roles have to alternate.", tone: "plain" };
  if (source === "rules")
    return { label: "standing rules", sentence: "The rules in force, word for word: nothing drops them.", tone: "hot" };
  if (source === "fold")
    return {
      label: folded === undefined ? "folded" : `fold of #${folded[0]} to #${folded.at(-1)}`,
      sentence: "Stands for a range in the middle; the messages can be shown again.",
      tone: "hot",
    };
  if (source === "request")
    return { label: "still worked on", sentence: "Kept word for word: the cut lies inside this turn.", tone: "hot" };
  if (source === "system")
    return { label: "system", sentence: "System messages are never summarized away.", tone: "plain" };
  const [reason] = shortened ?? [];
  if (reason !== undefined)
    return {
      label: `shortened: ${WORDS[reason] ?? reason}`,
      sentence: SENTENCES[reason] ?? "Something shorter stands for a part of it.",
      tone: "hot",
    };
  if (evidence !== undefined)
    return {
      label: `with evidence, ${grouped(evidence)}`,
      sentence: "Verbatim, with what memory and recall added to the question.",
      tone: "plain",
    };
  if (pinned)
    return { label: "pinned", sentence: "Verbatim now; every summary will quote it word for word.", tone: "hot" };
  const newer = hidden === 0 ? "" : ": newer than what the last compaction hid";
  return { label: "verbatim", sentence: `As it was said${newer}.`, tone: "quiet" };
}

/** Whether the words of a message were redacted. */
export function isErased(parts: readonly { readonly text: string }[]): boolean {
  return parts.some(({ text }) => text === "[redacted]");
}

export const ERASED = "Its words were erased, in the log too.";

const WORDS: Readonly<Record<string, string>> = {
  superseded: "read again later",
  repeated: "said twice",
  "stale-output": "old output",
  "long-input": "long input",
  "old-image": "old image",
  clamped: "too long",
  hidden: "hidden by hand",
};

const SENTENCES: Readonly<Record<string, string>> = {
  superseded: "The same thing was read again later; the newer reading stands whole.",
  repeated: "The same words stand elsewhere in the window.",
  "stale-output": "An old tool output: its gist stays, the whole is in the log.",
  "long-input": "A long input of a call whose result is known.",
  "old-image": "An old image, which a text stands for.",
  hidden: "It was hidden by choice; show or undo brings it back.",
  clamped: "Too large to stay: its head, its tail and a pointer to the whole.",
};
