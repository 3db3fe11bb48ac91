import { forgetWindows } from "palimpsest/internal/assistant";
import { OFFLINE, windowNow } from "palimpsest/internal/models";
import type { Run } from "../command/command.ts";
import { withHome } from "../home/home.ts";
import { requireModel } from "../home/talk.ts";
import { grouped } from "../terminal/grouped.ts";
import { windowText } from "./models.ts";

export const run: Run = async ({ positionals }, context) => {
  const { output, format, located, home } = context;
  const config = await located.settings();
  const name = positionals[0] ?? null;
  await requireModel(context, name);
  const entry = config.models.find((one) => name === null || one.name === name) ?? OFFLINE;
  // Limits in the home's own file need no store.
  const forgotten = (await located.hasStore())
    ? await withHome(context, ({ store }) => forgetWindows(home, store.shared?.limits, entry))
    : await forgetWindows(home, undefined, entry);
  const window = windowNow(entry, config.summarization.fallback_context_window, await located.learned());
  if (format === "json") await output.json({ model: entry.name, forgotten, window });
  else if (forgotten.length === 0)
    await output.line(`Nothing was learned about ${entry.name}: its window is ${windowText(window)}.`);
  else {
    const limits = forgotten.map(grouped).join(" and ");
    await output.line(
      `Forgot that ${entry.name} takes no more than ${limits} tokens: its window is ${windowText(window)}.`,
    );
  }
  return 0;
};
