/**
 * Chats as the AI SDK's `useChat` has them with its default settings: it sends all its messages and reads UI message
 * chunks. A chat's id is its thread's; where an answer was asked for again or a message was edited it goes on in a fork.
 */
import type { Agent, AgentEvent, AgentStream, RunInput, ThreadHandle, UIStreamOptions } from "palimpsest/agent";
import { uiMessageStream } from "palimpsest/internal/agent";
import { z } from "zod";
import { type After, EventStream, eventText } from "../http/event-stream.ts";
import { problemOf } from "../http/problem.ts";
import { NOTHING, type Route, route } from "../http/route.ts";
import { Attendance } from "../runs/attendance.ts";
import type { Run } from "../runs/run.ts";
import { failureOf, type SeenRun } from "../runs/seen-run.ts";
import { newThreadId, ownThread } from "./own-thread.ts";
import { refuseAddresses } from "./refuse-addresses.ts";
import { runModel } from "./run-model.ts";
import { namesOf, type RunDeps, startedRun } from "./runs.ts";

type Messages = NonNullable<RunInput["uiMessages"]>;
type Chunks = ReturnType<AgentStream["toUIMessageStream"]>;

const message = z.looseObject({
  id: z.string().max(200),
  role: z.enum(["system", "user", "assistant"]),
  parts: z.array(z.looseObject({ type: z.string() })),
});

const request = z.strictObject({
  id: z.string().describe("The chat's id, which is its thread's."),
  messages: z.array(message).min(1).describe("All that the browser shows; what the person did last is taken."),
  trigger: z.enum(["submit-message", "regenerate-message"]).optional(),
  messageId: z.string().max(200).optional().describe("The message to answer again, or the one that was edited."),
  model: z.string().optional().describe("A name of /api/models; without it the first."),
  on_disconnect: z
    .enum(["cancel", "continue"])
    .optional()
    .describe("What becomes of an answer that nobody reads for 5 seconds. Unless told: cancel."),
});

/** How a chat's run is shown to whoever comes later. */
interface Shown {
  readonly options: UIStreamOptions;
  readonly attendance: Attendance | null;
}

export function chatRoutes({ agents, runs, after }: RunDeps & { readonly after: After }): readonly Route[] {
  const shown = new WeakMap<Run, Shown>();
  return [
    route({
      method: "POST",
      path: "/api/chat",
      summary: "A message in a chat, an answer once more, a message edited, a call approved: as useChat sends it",
      access: "user",
      body: request,
      streams: "always",
      answer: z.string(),
      async handle(call) {
        const { home, meter, providerKey, body } = call;
        const { id, model = null, on_disconnect: onDisconnect = "cancel" } = body;
        // The agent reads them as the SDK does.
        const messages = body.messages as unknown as Messages;
        refuseAddresses(messages.slice(-1));
        const own = await runModel(home, { model, providerKey });
        const options = { originalMessages: messages.slice(-1), onError };
        let chunks: Chunks | null = null;
        const run = await startedRun(runs, {
          user: home.userId,
          thread: newThreadId(id),
          model,
          // Whoever says something new doesn't wait for an answer that they stopped reading.
          multitask: "interrupt",
          streams: true,
          meter,
          async begin(agent, input) {
            const stream = await chatRun(agent, { ...input, ...own }, { ...body, messages });
            chunks = stream.toUIMessageStream(options);
            return stream;
          },
        });
        if (chunks === null) throw failureOf(run);
        const elsewhere = () => runs.isReadElsewhere(run);
        const attendance = onDisconnect === "cancel" ? new Attendance(run, after, elsewhere) : null;
        shown.set(run, { options, attendance });
        return chatStream(run, chunks, attendance);
      },
    }),
    route({
      method: "GET",
      path: "/api/chat/{id}/stream",
      summary: "The answer under way in a chat, from its beginning; 204 where there is none",
      access: "user",
      streams: "always",
      answer: z.string(),
      async handle({ params, home }) {
        const { userId } = home;
        const chat = params["id"] ?? "";
        const run = runs.on(userId, chat);
        await run?.started;
        if (run === null) {
          const remote = await runs.elsewhere(userId, chat);
          // What was said before the database forgot it can't be told again.
          if (remote === null || remote.kept.first > 1) return NOTHING;
          const { agent } = await agents.get(null);
          const last = await lastShown((threadId) => agent.thread(threadId, { userId }), chat);
          return chatStream(remote, elsewhereChunks(remote, last), null);
        }
        if (run.stream === null) return NOTHING;
        const { options = {}, attendance = null } = shown.get(run) ?? {};
        return chatStream(run, run.stream.toUIMessageStream(options), attendance);
      },
    }),
    route({
      method: "GET",
      path: "/api/chat/{id}",
      summary: "A chat's messages as useChat shows them, for a page that is loaded again",
      access: "user",
      answer: z.strictObject({ id: z.string(), messages: z.array(z.unknown()).readonly() }),
      async handle(call) {
        const id = await ownThread(call);
        const { agent } = await agents.get(null);
        const handle = (threadId: string): ThreadHandle => agent.thread(threadId, { userId: call.home.userId });
        return { id, messages: await handle(await handle(id).current()).uiMessages() };
      },
    }),
  ];
}

type Asked = Pick<z.output<typeof request>, "trigger" | "messageId"> & { readonly messages: Messages };

async function chatRun(
  agent: Agent,
  input: RunInput & { readonly threadId: string; readonly userId?: string | undefined },
  { trigger, messageId, messages }: Asked,
): Promise<AgentStream> {
  const { threadId: chat, userId } = input;
  const threadId = await agent.thread(chat, userId === undefined ? {} : { userId }).current();
  const here = { ...input, threadId };
  if (trigger === "regenerate-message")
    return agent.regenerate({ ...here, ...(messageId !== undefined && { messageId }) });
  if (messageId !== undefined && messages.at(-1)?.role === "user")
    return agent.edit({ ...here, messageId, uiMessages: messages });
  return agent.stream({ ...here, uiMessages: messages });
}

const onError = (error: Error): string => problemOf(error).message;

/** The chunks of a run on another instance, made of its events from the first. `last`: the last message of the chat. */
function elsewhereChunks(run: SeenRun, last: Messages[number] | undefined): Chunks {
  // An answer that isn't this run's is one that it goes on with: calls there were approved or refused.
  const isGoneOnWith = last?.role === "assistant" && last.id !== run.facts.id;
  const before = isGoneOnWith ? { ...last, parts: last.parts.filter((part) => "approval" in part) } : null;
  return uiMessageStream(eventsOf(run), { onError, originalMessages: before === null ? [] : [before] });
}

async function lastShown(
  handle: (threadId: string) => ThreadHandle,
  chat: string,
): Promise<Messages[number] | undefined> {
  return (await handle(await handle(chat).current()).uiMessages()).at(-1);
}

async function* eventsOf(run: SeenRun): AsyncGenerator<AgentEvent> {
  for await (const slice of run.events(0)) for (const { data } of slice) yield JSON.parse(data) as AgentEvent;
}

function chatStream(run: SeenRun, chunks: Chunks, attendance: Attendance | null): EventStream {
  const leave = attendance?.enter();
  return new EventStream(piecesOf(run, chunks), {
    headers: { ...namesOf(run), "x-vercel-ai-ui-message-stream": "v1" },
    ...(leave !== undefined && { onLeave: leave }),
  });
}

async function* piecesOf(run: SeenRun, chunks: Chunks): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    const isShutdown = chunk.type === "abort" && run.stoppedBy === "shutdown";
    yield eventText(JSON.stringify(isShutdown ? { type: "error", errorText: SHUTDOWN } : chunk));
  }
  yield eventText("[DONE]");
}

const SHUTDOWN = "The server has shut down before the answer was complete.";
