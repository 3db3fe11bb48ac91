/** Reads a file of dialogs in LoCoMo's layout for the benches, and names the fields that are used and those that never are. */
import type { Dialog } from "@palimpsest/lab";
import { dialogsIn } from "../packages/lab/src/replay/dialogs.ts";
import { BenchInputError, readData } from "./bench.ts";

export type { Dialog, DialogQuestion as Question, DialogTurn as Turn } from "@palimpsest/lab";

export const FIELDS = {
  indexed: [
    "conversation.session_N_date_time",
    "conversation.session_N[].speaker",
    "conversation.session_N[].text",
    "conversation.session_N[].blip_caption",
    "conversation.session_N[].query",
  ],
  indexedWithFacts: ["observation"],
  asQuery: ["qa[].question"],
  forScoring: ["conversation.session_N[].dia_id", "qa[].evidence", "qa[].category"],
  never: ["qa[].answer", "qa[].adversarial_answer", "event_summary", "session_summary"],
} as const;

export function readDialogs(path: string | undefined, usage: string): Dialog[] {
  const text = readData(path, usage);
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    throw new BenchInputError(`${path} is not JSON; this bench needs a LoCoMo file (a list of dialogs).`);
  }
  const dialogs = dialogsIn(file);
  if (dialogs.length === 0) throw new BenchInputError(`${path} holds no dialog with "conversation" and "qa".`);
  return dialogs;
}
