import { type Shape, shapeOf } from "@palimpsest/core/message";
import { request, view } from "palimpsest/internal/looking";
import type { ResultOf } from "palimpsest/internal/operation";
import type { Input, Printing } from "../command/command.ts";
import { choosing, performing } from "../home/acts.ts";
import { counted } from "../terminal/counted.ts";
import { grouped } from "../terminal/grouped.ts";
import { writeMessage } from "../terminal/message-text.ts";

interface Options {
  readonly window?: number;
  readonly request?: number;
}

export const { run, remote } = choosing<Options>(({ options }) => (options.request === undefined ? now : past));

const now = performing(view, {
  input: ({ positionals, options: { window } }: Input<Options>) => ({ thread: positionals[0]!, window }),
  show,
});

const past = performing(request, {
  input: ({ positionals, options }: Input<Options>) => ({ thread: positionals[0]!, seq: options.request! }),
  show: printRequest,
  hints: { "no-request": '"palimpsest replay T --json" names the records' },
});

async function show(
  document: ResultOf<typeof view>,
  { format, output }: Printing,
  { options: { window } }: Input<Options>,
): Promise<number> {
  const { dialect, tokens, source, messages, simulated, repairs, damage } = document;
  if (damage !== undefined) output.note(`palimpsest: ${damage.message}`);
  if (format === "json") {
    await output.json(document);
    return damage === undefined ? 0 : 1;
  }
  for (const [what, all] of Map.groupBy(repairs, ({ kind, detail }) => `${kind}, ${detail}`))
    output.note(`repaired: ${what}${all.length > 1 ? ` (${all.length} times)` : ""}`);
  for (const [index, message] of messages.entries())
    await output.line(writeMessage(message, shapeOf(dialect) as never, `${index + 1}`));
  const size = `${counted(messages.length, "message")}, ${grouped(tokens)} tokens (${source})`;
  output.note(simulated ? `${size}, as a window of ${grouped(window ?? 0)} would force it; nothing was written` : size);
  if (simulated) output.note("A compaction goes well below the window, so that the next one is far off.");
  return damage === undefined ? 0 : 1;
}

async function printRequest(document: ResultOf<typeof request>, { format, output }: Printing): Promise<number> {
  if (format === "json") {
    await output.json(document);
    return 0;
  }
  const { system, messages, tools, parameters, answer } = document;
  await output.line(typeof system === "string" ? system : system.content);
  const shape = shapeOf(parameters?.loop?.dialect ?? "ai-sdk") as unknown as Shape<object>;
  for (const [index, message] of messages.entries()) await output.line(writeMessage(message, shape, `${index + 1}`));
  const names = tools.map(toolName).join(", ");
  output.note(`tools: ${names === "" ? "none" : names}; parameters: ${JSON.stringify(parameters)}`);
  output.note(`${counted(messages.length, "message")}, answered at record ${answer}`);
  return 0;
}

/** OpenAI's chat has it one level deeper than the others. */
function toolName(tool: { readonly name?: string; readonly function?: { readonly name?: string } }): string {
  return tool.name ?? tool.function?.name ?? "unnamed";
}
