/** `run` against a gateway: the run is the server's, its words come here as they are said. */
import { randomUUID } from "node:crypto";
import type { AgentEvent, RunEnd } from "palimpsest/agent";
import type { Remote, RemoteContext } from "../command/command.ts";
import { Failure, sentence, UsageError } from "../command/failure.ts";
import { programName } from "../command/program-name.ts";
import { eventData, threadPath } from "../command/server.ts";
import { remoteActs } from "../home/acts.ts";
import { unfinishedNote } from "../home/approvals.ts";
import { patience } from "../home/home.ts";
import { everyThread } from "../home/list-threads.ts";
import { checkTalk, type TalkOptions } from "../home/talk.ts";
import { promptOf } from "./prompt.ts";

export const remote: Remote<TalkOptions> = async ({ positionals, options }, context) => {
  const { server, format, output } = context;
  checkTalk(options);
  for (const name of ["workspace", "window", "agent"] as const)
    if (options[name] !== undefined)
      throw new UsageError(`--${name} is for a home of this machine: leave --server out.`);
  const prompt = await promptOf(positionals, context);
  const asked = options.continue === true ? await newestThread(context) : options.thread;
  const threadId = asked ?? `thread-${randomUUID()}`;
  const body = {
    prompt,
    model: options.model,
    multitask: patience(options.wait) > 0 ? "wait" : "reject",
    on_disconnect: "cancel",
  };
  const path = threadPath(threadId, "/runs");
  if (format === "json") {
    const document = await server.send<{ readonly end: string }>("POST", path, body);
    await output.json(document);
    return document.end === "answered" || document.end === "asked" ? 0 : 1;
  }
  const request = { method: "POST", contentType: "application/json" };
  const response = await server.open(path, { ...request, body: JSON.stringify({ ...body, stream: true }) });
  return report(await said(response, context), threadId, { context, isNew: asked === undefined });
};

/** Prints what is said, and gives how it ended. */
async function said(response: Response, { output, signal }: RemoteContext): Promise<RunEnd> {
  let end: RunEnd | null = null;
  let shown = "";
  for await (const data of eventData(response)) {
    const event = data as AgentEvent;
    if (event.type === "run-end") end = event.end;
    if (event.type !== "text-delta") continue;
    shown += event.text;
    await output.write(event.text);
  }
  signal.throwIfAborted();
  if (shown !== "" && !shown.endsWith("\n")) await output.write("\n");
  if (end === null) throw new Failure("stream-cut", "The gateway ended the answer before its end: ask again.");
  return end;
}

async function newestThread(context: RemoteContext): Promise<string> {
  const newest = (await everyThread(remoteActs(context), { limit: 100 })).find(({ kind }) => kind === "main");
  if (newest === undefined) throw new Failure("missing", "There is no thread to go on with yet.");
  return newest.id;
}

async function report(
  end: RunEnd,
  threadId: string,
  { context, isNew }: { readonly context: RemoteContext; readonly isNew: boolean },
): Promise<number> {
  const { output } = context;
  if (end.kind === "failed") throw new Failure(end.code, sentence(end.message));
  if (end.kind === "asked") await output.line([end.question, ...end.options.map((one) => `- ${one}`)].join("\n"));
  if (isNew) output.note(`Go on with: ${programName()} run PROMPT --thread ${threadId}`);
  const decide = `POST ${context.server.url}${threadPath(threadId, "/approve")}`;
  const note = unfinishedNote(end, { decide, goOn: "run again on the thread to go on" });
  if (note === null) return 0;
  output.note(note);
  return 1;
}
