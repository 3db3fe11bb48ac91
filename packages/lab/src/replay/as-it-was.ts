/** The compactions that the program which wrote a session made itself, played again: its summary stands for what it hid. */
import { openaiShape } from "@palimpsest/core/internal/message";
import type { Policy, View } from "./policy.ts";

export function asItWas(marks: readonly { readonly after: number; readonly summary: string }[]): Policy {
  return {
    name: "as it was",
    prepare(view, { meter, fixedTokens }) {
      const said = Math.max(0, ...view.map(({ seq }) => seq ?? 0));
      const mark = marks.findLast(({ after }) => after <= said);
      const hidden = mark === undefined ? [] : view.filter(({ seq }) => seq !== null && seq <= mark.after);
      if (mark === undefined || hidden.length === 0) return { view, calls: [] };
      const message = openaiShape.turn(
        "user",
        mark.summary === "" ? "(a summary that the file doesn't have)" : mark.summary,
      );
      const rest: View = view.filter(({ seq }) => seq !== null && seq > mark.after);
      const input = view.reduce((sum, entry) => sum + meter.message(entry.message), fixedTokens);
      return {
        view: [{ source: "summary", seq: null, message, addition: null }, ...rest],
        calls: [{ input, output: meter.message(message) }],
      };
    },
  };
}
