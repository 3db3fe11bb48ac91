/**
 * Chats as the AI SDK's `useChat` has them with its default settings: it sends all its messages and reads UI message
 * chunks. A chat's id is its thread's; where an answer was asked for again or a message was edited it goes on in a fork.
 */
import { type Agent, AgentError, type AgentEvent, type AgentStream, type UIStreamOptions } from "palimpsest";
import { type ChatRequest, chatsOf, nameOf, readChat, uiMessageStream } from "palimpsest/internal/agent";
import { z } from "zod";
import { type After, EventStream, eventText } from "../http/event-stream.ts";
import { problemOf } from "../http/problem.ts";
import { type Call, NOTHING, type Route, route } from "../http/route.ts";
import { Attendance } from "../runs/readers.ts";
import { failureOf, type GatewayRun, type SeenRun } from "../runs/run.ts";
import { ownThread } from "./own-thread.ts";
import { namesOf, type RunRouteDeps, runModel, startedRun } from "./runs.ts";

type ChatMessages = Awaited<ReturnType<Agent["messages"]>>;
type Chunks = ReturnType<AgentStream["toUIMessageStream"]>;

const requestBody = z.strictObject({
  id: z.string().describe("The chat's id, which is its thread's."),
  messages: z
    .array(z.looseObject({ role: z.string() }))
    .describe("All that the browser shows, the user's and the assistant's; what the person did last is taken."),
  trigger: z.enum(["submit-message", "regenerate-message"]).optional(),
  messageId: z.string().max(200).optional().describe("The message to answer again, or the one that was edited."),
  model: z.string().optional().describe("A name of /api/models; without it the first."),
  on_disconnect: z
    .enum(["cancel", "continue"])
    .optional()
    .describe("Whether an answer without a reader for 5 seconds is cancelled, as unless told."),
});

type ChatCall = Pick<Call<unknown, z.output<typeof requestBody>>, "home" | "meter" | "providerKey" | "body">;

/** How a chat's run is shown to clients that come later. */
interface Shown {
  readonly options: UIStreamOptions;
  readonly attendance: Attendance | null;
}

type ChatDeps = RunRouteDeps & { readonly after: After };

export function chatRoutes(deps: ChatDeps): readonly Route[] {
  const { agents, runs } = deps;
  const shown = new WeakMap<GatewayRun, Shown>();
  /** Runs under way by user, chat and request: one that is sent again follows the first. */
  const asked = new Map<string, Promise<GatewayRun | null>>();
  const follow = (run: GatewayRun | null): EventStream | null => {
    if (run === null || run.stream === null) return null;
    const { options = {}, attendance = null } = shown.get(run) ?? {};
    return chatStream(run, run.stream.toUIMessageStream(options), attendance);
  };
  const followElsewhere = async (userId: string, chat: string): Promise<EventStream | null> => {
    const remote = await runs.elsewhere(userId, chat);
    // What was said before the database forgot it can't be told again.
    if (remote === null || remote.kept.first > 1) return null;
    const { agent } = await agents.get(null);
    const last = (await agent.messages(chat, { userId })).at(-1);
    return chatStream(remote, elsewhereChunks(remote, last), null);
  };
  return [
    route({
      method: "POST",
      path: "/api/chat",
      summary: "A message in a chat, an answer once more, a message edited, a call approved: as useChat sends it",
      access: "user",
      spends: "tokens",
      body: requestBody,
      streams: "always",
      answer: z.string(),
      async handle(call) {
        const { userId } = call.home;
        const request = readChat(call.body);
        const { agent } = await agents.get(call.body.model ?? null);
        const key = JSON.stringify([userId, request.id, nameOf(request)]);
        for (let attempt = 1; ; attempt += 1) {
          const found = await chatsOf(agent).find(request, { userId, onError });
          // The log has the answer.
          if (found.kind === "answered") return new EventStream(piecesOf(found.chunks, null), { headers: UI_STREAM });
          const stream =
            follow((await asked.get(key)) ?? null) ??
            (found.kind === "unanswered" ? await followElsewhere(userId, request.id) : null);
          if (stream !== null) return stream;
          if (asked.has(key)) continue;
          const starting = startedChat(deps, call, { request, said: found.kind, shown });
          const run = starting.then(
            (started) => started.run,
            () => null,
          );
          asked.set(key, run);
          void run.then((one) => one?.ended).then(() => asked.delete(key));
          const started = await starting.catch((error: unknown) => otherWasFaster(error, attempt));
          if (started !== null) return started.stream;
        }
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
        return (run === null ? await followElsewhere(userId, chat) : follow(run)) ?? NOTHING;
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
        return { id, messages: await agent.messages(id, { userId: call.home.userId }) };
      },
    }),
  ];
}

/** Null: another gateway has said the same meanwhile, and the log has it. Rethrows everything else. */
function otherWasFaster(error: unknown, attempt: number): null {
  if (AgentError.isInstance(error) && error.code === "already-said" && attempt === 1) return null;
  throw error;
}

interface NewRequest {
  readonly request: ChatRequest;
  readonly said: "new" | "unanswered";
  readonly shown: WeakMap<GatewayRun, Shown>;
}

/** Throws where the run could not start. */
async function startedChat(
  { runs, after }: ChatDeps,
  { home, meter, providerKey, body }: ChatCall,
  { request, said, shown }: NewRequest,
): Promise<{ readonly run: GatewayRun; readonly stream: EventStream }> {
  const { model = null, on_disconnect: onDisconnect = "cancel" } = body;
  const own = await runModel(home, { model, providerKey });
  const options = { originalMessages: request.last === null ? [] : [request.last], onError };
  let chunks: Chunks | null = null;
  const run = await startedRun(runs, {
    user: home.userId,
    thread: request.id,
    model,
    // A new message doesn't wait for an answer that its author stopped reading.
    multitask: "interrupt",
    streams: true,
    meter,
    async begin(agent, { threadId: _, ...input }) {
      const stream = await chatsOf(agent).start(request, said, { ...input, ...own });
      chunks = stream.toUIMessageStream(options);
      return stream;
    },
  });
  if (chunks === null) throw failureOf(run);
  const elsewhere = () => runs.isReadElsewhere(run);
  const attendance = onDisconnect === "cancel" ? new Attendance(run, after, elsewhere) : null;
  shown.set(run, { options, attendance });
  return { run, stream: chatStream(run, chunks, attendance) };
}

const onError = (error: Error): string => problemOf(error).message;

/** The chunks of a run on another instance, made of its events from the first. `last`: the last message of the chat. */
function elsewhereChunks(run: SeenRun, last: ChatMessages[number] | undefined): Chunks {
  // An answer that isn't this run's is one that it goes on with: calls there were approved or refused.
  const isGoneOnWith = last?.role === "assistant" && last.id !== run.facts.id;
  const before = isGoneOnWith ? { ...last, parts: last.parts.filter((part) => "approval" in part) } : null;
  return uiMessageStream(eventsOf(run), { onError, originalMessages: before === null ? [] : [before] });
}

async function* eventsOf(run: SeenRun): AsyncGenerator<AgentEvent> {
  for await (const slice of run.events(0)) for (const { data } of slice) yield JSON.parse(data) as AgentEvent;
}

function chatStream(run: SeenRun, chunks: Chunks, attendance: Attendance | null): EventStream {
  const leave = attendance?.enter();
  return new EventStream(piecesOf(chunks, run), {
    headers: { ...namesOf(run), ...UI_STREAM },
    onLeave: leave,
  });
}

const UI_STREAM = { "x-vercel-ai-ui-message-stream": "v1" };

async function* piecesOf(chunks: Chunks | readonly object[], run: SeenRun | null): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    const isShutdown = "type" in chunk && chunk.type === "abort" && run?.stoppedBy === "shutdown";
    yield eventText(JSON.stringify(isShutdown ? { type: "error", errorText: SHUTDOWN } : chunk));
  }
  yield eventText("[DONE]");
}

const SHUTDOWN = "The server has shut down before the answer was complete.";
