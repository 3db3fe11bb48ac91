/** What a line means in a chat: a verdict on a call that waits, a command, words to be said. Pure. */
import { type Verdict, verdictOf } from "../home/approvals.ts";
import { readSlash, type Slash } from "./slash.ts";

export type Meaning<Call> =
  | Exclude<Slash, { readonly kind: "text" }>
  | { readonly kind: "verdict"; readonly call: Call; readonly verdict: Verdict }
  | Words;

type Words = { readonly kind: "say"; readonly text: string } | { readonly kind: "nothing" };

/** Null for the line: there is no more. `call`: the one that waits for a verdict. */
export function meaningOf<Call>(line: string | null, call: Call | null): Meaning<Call> {
  if (line === null) return { kind: "quit" };
  const slash = readSlash(line);
  if (slash.kind !== "text") return slash;
  const verdict = call === null ? null : verdictOf(line);
  return call === null || verdict === null ? wordsIn(line) : { kind: "verdict", call, verdict };
}

/** Never a command: what a command wants said may begin like one. */
export function wordsIn(text: string): Words {
  return text.trim() === "" ? { kind: "nothing" } : { kind: "say", text };
}
