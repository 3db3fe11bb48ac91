/** Runs: an agent at work on a thread, to be waited for or followed by any number of readers, and to be stopped. */
import type { RunInput } from "palimpsest";
import { runDocument } from "palimpsest/internal/documents";
import type { Home } from "palimpsest/internal/home";
import { resolveModel } from "palimpsest/models";
import { z } from "zod";
import { isOperator } from "../access/admit.ts";
import { EventStream } from "../http/event-stream.ts";
import { closing, notFound, ProblemError, problemOf } from "../http/problem.ts";
import { type Call, type Route, route, thread, whole } from "../http/route.ts";
import type { Agents } from "../runs/home-runs.ts";
import { followed } from "../runs/readers.ts";
import type { RunOrder, RunRefusal, Runs } from "../runs/registry.ts";
import { failureOf, type GatewayRun, readEventId, type SeenRun } from "../runs/run.ts";
import { busy, newThreadId } from "./own-thread.ts";

export interface RunRouteDeps {
  readonly agents: Agents;
  readonly runs: Runs;
}

const run = z.string().describe("A run's id.");

const usage = z.strictObject({ input: z.int(), output: z.int(), cacheRead: z.int(), cacheWrite: z.int() });

const call = z.strictObject({ id: z.string(), name: z.string(), input: z.unknown() });

const outcome = {
  text: z.string().describe("The last answer; what was said of it where the run was stopped."),
  usage: usage.describe("Tokens of all calls of the run."),
  steps: z.int(),
  end: z.string().describe("How it ended: answered, asked, approval, client-calls, step-limit, budget, aborted, ..."),
  question: z.string().optional(),
  options: z.array(z.string()).readonly().optional(),
  calls: z.array(call).readonly().optional().describe("Calls that wait for approval, or that the client has to run."),
  clientCalls: z.array(call).readonly().optional(),
  spent: z
    .strictObject({ tokens: z.int(), cost: z.number().nullable() })
    .optional()
    .describe("By a run that its budget ended; cost is null where no price is known."),
  limit: z.int().optional().describe("Of steps, where that ended the run."),
  cost: z.looseObject({ spent: z.number() }).optional(),
};

export function runRoutes({ runs }: RunRouteDeps): readonly Route[] {
  return [
    route({
      method: "POST",
      path: "/api/threads/{id}/runs",
      summary: "Let the agent work on a thread, which is made where it is missing; as JSON at the end, or as events",
      access: "user",
      spends: "tokens",
      body: z.strictObject({
        prompt: z
          .string()
          .optional()
          .describe("What to say; with neither this nor messages it goes on from where it stands."),
        messages: z
          .array(z.looseObject({ role: z.string() }))
          .optional()
          .describe("In the AI SDK's format."),
        model: z.string().optional().describe("A name of /api/models; without it the first."),
        stream: z.boolean().optional().describe("As server-sent events, each with an id."),
        multitask: z
          .enum(["reject", "wait", "fork"])
          .optional()
          .describe("While another run is under way on the thread: 409, behind it, or on a fork. Unless told: reject."),
        on_disconnect: z
          .enum(["cancel", "continue"])
          .optional()
          .describe("Whether the run continues, as unless told, when this request's connection closes."),
      }),
      streams: "also",
      answer: z.strictObject({ run, thread, ...outcome }),
      async handle(call) {
        const {
          stream = false,
          on_disconnect: onDisconnect = "continue",
          multitask = "reject",
          model = null,
        } = call.body;
        const said = saidIn(call.body);
        const own = await runModel(call.home, { model, providerKey: call.providerKey });
        const started = await startedRun(runs, {
          user: call.home.userId,
          thread: newThreadId(call.params["id"] ?? ""),
          model,
          multitask,
          streams: stream,
          meter: call.meter,
          audience: isOperator(call.caller) ? "operator" : "user",
          begin: (agent, input) => agent.stream({ ...input, ...own, ...said }),
        });
        const leave = () => {
          if (onDisconnect === "cancel") started.stop("caller");
        };
        if (stream) return new EventStream(followed(started, 0), { headers: namesOf(started), onLeave: leave });
        if (call.signal.aborted) leave();
        call.signal.addEventListener("abort", leave);
        try {
          await started.ended;
        } finally {
          call.signal.removeEventListener("abort", leave);
        }
        return resultOf(started, call);
      },
    }),
    route({
      method: "GET",
      path: "/api/runs/{run}",
      summary: "How a run stands; those that have ended are known for some minutes",
      access: "user",
      answer: z.strictObject({
        run,
        thread,
        status: z.enum(["waiting", "running", "ended"]),
        lastEvent: z.int().describe("The id of the newest event."),
        askedAt: z.string(),
        endedAt: z.string().nullable(),
        ...z.strictObject(outcome).partial().shape,
        error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
      }),
      async handle(call) {
        const own = await ownRun(runs, call);
        const { status, kept, facts, endedAt } = own;
        return {
          run: facts.id,
          thread: own.thread,
          status,
          lastEvent: kept.last,
          askedAt: facts.askedAt.toISOString(),
          endedAt: endedAt?.toISOString() ?? null,
          ...(await endOf(own, call)),
        };
      },
    }),
    route({
      method: "GET",
      path: "/api/runs/{run}/stream",
      summary: "A run's events from the first, or behind the one that Last-Event-ID names, until it ends",
      access: "user",
      query: z.strictObject({
        after: whole(0).optional().describe("As Last-Event-ID, where that header can't be set."),
      }),
      streams: "always",
      answer: z.string(),
      async handle(call) {
        const own = await ownRun(runs, call);
        const after = lastSeen(call.lastEventId, own.facts.id) ?? call.query.after ?? 0;
        const { first, last } = own.kept;
        if (after > last) throw invalidId(`this run has had ${last} events so far`);
        if (after < first - 1)
          throw new ProblemError(410, "events-gone", `the events before ${first} are no longer kept`, {
            details: { first },
          });
        return new EventStream(followed(own, after), { headers: namesOf(own) });
      },
    }),
    route({
      method: "POST",
      path: "/api/runs/{run}/cancel",
      summary: "Stop a run: what it has said so far stays in the thread, as aborted",
      access: "user",
      body: z.strictObject({}),
      answer: z.strictObject({ run, thread, status: z.enum(["waiting", "running", "ended"]) }),
      async handle(call) {
        const own = await ownRun(runs, call);
        await own.stop("caller");
        return { run: own.facts.id, thread: own.thread, status: own.status };
      },
    }),
  ];
}

/** Started, or waiting for others; else why not. */
export async function startedRun(runs: Runs, order: RunOrder): Promise<GatewayRun> {
  const started = await runs.start(order);
  if (started.kind === "refused") throw refusal(started.reason, order.thread);
  const { run } = started;
  if (run.status !== "ended") return run;
  const { end } = await run.ended;
  if (end.kind === "busy") throw busy(order.thread, end);
  if (end.kind === "failed") throw failureOf(run);
  return run;
}

function refusal(reason: RunRefusal, id: string): ProblemError {
  switch (reason) {
    case "busy":
      return busy(id);
    case "queue-full":
      return new ProblemError(429, "limited", `too many runs wait for thread ${JSON.stringify(id)} already`, SOON);
    case "limited":
      return new ProblemError(429, "limited", "so many runs of this user are under way already", SOON);
    case "closing":
      return closing();
  }
}

const SOON = { headers: { "retry-after": "1" } };

function saidIn({
  prompt,
  messages,
}: {
  readonly prompt?: string | undefined;
  readonly messages?: object[] | undefined;
}) {
  if (messages === undefined) return { prompt };
  refuseAddresses(messages);
  // The agent checks each of them.
  return { prompt, messages: messages as unknown as NonNullable<RunInput["messages"]> };
}

async function ownRun(runs: Runs, { params, home }: Pick<Call<unknown, unknown>, "params" | "home">): Promise<SeenRun> {
  const id = params["run"] ?? "";
  const own = await runs.find(home.userId, id);
  const isThere = own !== null && !(await isErased(own, home));
  if (own !== null && !isThere) await runs.forget(own);
  if (!isThere) throw notFound(`run ${JSON.stringify(id.slice(0, 140))}`);
  return own;
}

/** The events of a run have the words of its thread: once those are deleted or redacted, they are not to be had here. */
async function isErased({ status, wrote, base, thread: threadId }: SeenRun, { store }: Home): Promise<boolean> {
  if (status !== "ended" || !wrote) return false;
  const head = await store.head(threadId);
  if (head === undefined) return true;
  const range = [(base ?? 0) + 1, head.version] as const;
  for await (const { record } of store.records(threadId, { range, kinds: ["event"] }))
    if (record.kind === "event" && record.event.type === "redacted") return true;
  return false;
}

async function resultOf(own: SeenRun, { home }: Pick<Call<unknown, unknown>, "home">) {
  const result = own.result!;
  if (result.end.kind === "busy") throw busy(result.threadId, result.end);
  if (result.end.kind === "failed") throw failureOf(own);
  return { run: own.facts.id, ...runDocument(result, { config: await home.settings(), model: own.facts.model }) };
}

/** As far as it has one. */
async function endOf(own: SeenRun, call: Pick<Call<unknown, unknown>, "home">) {
  if (own.result === null) return {};
  const { end, text, usage, steps } = own.result;
  if (end.kind !== "failed" && end.kind !== "busy") return resultOf(own, call);
  const { code, message } = problemOf(end.kind === "busy" ? busy(own.thread, end) : failureOf(own));
  return { text, usage, steps, end: end.kind, error: { code, message } };
}

export function namesOf({ facts, thread: id }: Pick<SeenRun, "facts" | "thread">): Record<string, string> {
  return { "x-palimpsest-run": facts.id, "x-palimpsest-thread": encodeURIComponent(id) };
}

function lastSeen(header: string | null, run: string): number | null {
  if (header === null || header === "") return null;
  const id = readEventId(header, run);
  if (id === null) throw invalidId("it is the id of one of this run's events");
  return id;
}

function invalidId(why: string): ProblemError {
  return new ProblemError(400, "invalid", `Last-Event-ID: ${why}`);
}

/* The model of one run: the agent's own, or the same with the key that came with the request. */

/** The key goes to the address that the configuration gives for this model, and to no other. */
export async function runModel(
  home: Home,
  { model, providerKey }: { readonly model: string | null; readonly providerKey: string | null },
): Promise<Pick<RunInput, "model" | "window">> {
  if (providerKey === null) return {};
  const config = await home.settings();
  const entry = model === null ? config.models[0] : config.models.find(({ name }) => name === model);
  if (entry === undefined) return {};
  const { language, window } = await resolveModel({ ...config, models: [{ ...entry, api_key: providerKey }] }, null);
  return { model: language, window: window.tokens };
}

/* No address that comes with a request is ever contacted: files and images come with their content, or not at all. */

/** Throws where a file or an image is given by its address. `messages` are as they came. */
function refuseAddresses(messages: readonly object[]): void {
  for (const [index, message] of messages.entries())
    for (const part of partsOf(message)) {
      const address = addressIn(part);
      if (address === null) continue;
      throw new ProblemError(
        400,
        "no-addresses",
        `message ${index + 1} has a file by its address (${address.slice(0, 100)}): send its content, as a data: URL`,
      );
    }
}

function partsOf(message: object): readonly unknown[] {
  return ["content", "parts"].flatMap((name) => {
    const parts: unknown = Reflect.get(message, name);
    return Array.isArray(parts) ? parts : [];
  });
}

/** Parts that say something in words may name addresses; parts that are a file may not be one. */
function addressIn(part: unknown): string | null {
  if (typeof part !== "object" || part === null) return null;
  const type: unknown = Reflect.get(part, "type");
  if (typeof type !== "string" || !FILES.has(type)) return resultAddress(part, type);
  return firstAddress(["url", "data", "image"].map((name) => Reflect.get(part, name)));
}

const FILES: ReadonlySet<string> = new Set(["file", "image", "image-url", "file-url", "media", "reasoning-file"]);

/** A tool's result may hold files too. */
function resultAddress(part: object, type: unknown): string | null {
  if (type !== "tool-result") return null;
  const value: unknown = Reflect.get(Object(Reflect.get(part, "output")), "value");
  if (!Array.isArray(value)) return null;
  for (const inner of value) {
    const address = addressIn(inner);
    if (address !== null) return address;
  }
  return null;
}

function firstAddress(values: readonly unknown[]): string | null {
  for (const value of values) {
    if (typeof value === "string" && /^(?!data:)[a-z][a-z0-9+.-]*:/i.test(value.trim())) return value;
    if (typeof value !== "object" || value === null) continue;
    const inner = firstAddress(Object.values(value));
    if (inner !== null) return inner;
  }
  return null;
}
