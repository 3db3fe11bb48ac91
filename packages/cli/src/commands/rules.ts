import type { ResultOf } from "palimpsest/internal/operation";
import { addedRule, editedRule, endedRule, restoredRule, rules } from "palimpsest/internal/shaping";
import type { Input, Printing } from "../command/command.ts";
import { performing } from "../home/acts.ts";

interface RuleListOptions {
  readonly all?: boolean;
}

export const listing = performing(rules, {
  input: ({ positionals: [thread = ""] }: Input<RuleListOptions>) => ({ thread }),
  async show(document: ResultOf<typeof rules>, { format, output }: Printing, { options }: Input<RuleListOptions>) {
    if (format === "json") await output.json(document);
    else {
      const shown = document.rules.filter(({ status }) => options.all === true || status !== "ended");
      if (shown.length === 0) await output.line(`${document.thread} has no rules.`);
      for (const { id, text, status, source } of shown) {
        const from = source === null ? "" : `, message ${source}`;
        await output.line(`${id.padEnd(5)} ${text}${status === "active" && from === "" ? "" : `  (${status}${from})`}`);
      }
      const waiting = shown.filter(({ status }) => status === "proposed").length;
      if (waiting > 0) await output.line('Proposed rules wait: "palimpsest rules restore T RULE" puts one in force.');
    }
    return 0;
  },
});

export const adding = performing(addedRule, {
  input: ({ positionals: [thread = "", text = ""] }: Input) => ({ thread, text }),
  show,
});
export const editing = performing(editedRule, {
  input: ({ positionals: [thread = "", rule = "", text = ""] }: Input) => ({ thread, rule, text }),
  show,
});
export const ending = performing(endedRule, {
  input: ({ positionals: [thread = "", rule = ""] }: Input) => ({ thread, rule }),
  show,
});
export const restoring = performing(restoredRule, {
  input: ({ positionals: [thread = "", rule = ""] }: Input) => ({ thread, rule }),
  show,
});

async function show(document: ResultOf<typeof addedRule>, { format, output }: Printing): Promise<number> {
  const { rule, ended, thread } = document;
  if (format === "json") await output.json(document);
  else {
    await output.line(
      rule.status === "active" ? `In force in ${thread}: ${rule.id} ${rule.text}` : `Ended: ${rule.id} ${rule.text}`,
    );
    for (const old of ended) if (old.id !== rule.id) await output.line(`It takes the place of ${old.id} ${old.text}`);
  }
  return 0;
}
