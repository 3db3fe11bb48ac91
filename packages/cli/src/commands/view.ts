import { type Shape, shapeOf } from "@palimpsest/core/message";
import { pastRequest } from "palimpsest/agent";
import { threadPrompt } from "palimpsest/inspect";
import { requestDocument, viewDocument } from "palimpsest/internal/documents";
import { threadDeps } from "palimpsest/threads";
import type { Context, Printing, Remote, Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { threadPath } from "../command/server.ts";
import { missingThread, withThread } from "../home/home.ts";
import { simulationPolicy } from "../home/simulation-policy.ts";
import { counted } from "../terminal/counted.ts";
import { grouped } from "../terminal/grouped.ts";
import { writeMessage } from "../terminal/message-text.ts";

interface Options {
  readonly window?: number;
  readonly request?: number;
}

export const run: Run<Options> = async (input, context) => {
  const { positionals, options: given } = input;
  const threadId = positionals[0]!;
  const { window, request } = given;
  if (request !== undefined) return showRequest(context, threadId, request);
  const options = window === undefined ? {} : { window, simulate: await simulationPolicy(context) };
  const prompt = await withThread(context, threadId, ({ store }) => threadPrompt(store, threadId, options));
  if (prompt.kind === "missing") throw missingThread(context, threadId);
  return show(viewDocument(threadId, prompt), context, window);
};

export const remote: Remote<Options> = async ({ positionals, options: { window, request } }, context) => {
  const path = threadPath(positionals[0]!);
  if (request !== undefined) return printRequest(await context.server.get(`${path}/requests/${request}`), context);
  return show(await context.server.get(`${path}/view`, { window }), context, window);
};

async function show(
  document: ReturnType<typeof viewDocument>,
  { format, output }: Printing,
  window: number | undefined,
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

async function showRequest(context: Context, threadId: string, seq: number): Promise<number> {
  const found = await withThread(context, threadId, ({ store }) => pastRequest(threadDeps(store), threadId, seq));
  if (found.kind === "missing") throw missingThread(context, threadId);
  if (found.kind === "no-request") throw new Failure("no-request", WHY_NONE[found.reason]);
  if (found.kind === "erased") {
    const detail = `The request of the answer at ${found.answer} can't be shown whole: its ${found.what} text was erased, or is not kept in this store.`;
    throw new Failure("erased", detail);
  }
  return printRequest(requestDocument(threadId, found), context);
}

async function printRequest(
  document: ReturnType<typeof requestDocument>,
  { format, output }: Printing,
): Promise<number> {
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

const WHY_NONE = {
  "no-answer":
    "No model has answered at that record or after it: give the record of an answer, as `replay --json` names it.",
  "not-recorded":
    "That answer came without a recorded request: it was imported, or whoever asked didn't say what it sent beside the messages.",
};
