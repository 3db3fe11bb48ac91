/** One good request for every route of the table, and a world to make it in. */

import type { TestContext } from "node:test";
import type { Home } from "palimpsest/home";
import { createKey } from "palimpsest/internal/key-operations";
import type { Route } from "../src/http/route.ts";
import { allRoutes } from "../src/routes.ts";
import { type Answered, type Running, type RunningOptions, running, sent } from "./running.ts";

/** Only to be looked at: what carries them out isn't there. */
export const ROUTES = allRoutes({
  status: { notReady: async () => null, metrics: async () => "" },
  agents: null as never,
  runs: null as never,
  after: () => () => {},
  requests: null as never,
  session: null as never,
  closing: null as never,
  version: "0",
});

/** Goes on until its reader leaves: `resources/changes.test.ts` has it. */
export const ENDLESS = "GET /api/changes";

/** Ends the user's key. */
const LAST = "DELETE /api/user";

/** Those whose answer ends; what deletes everything comes last. */
export const ENDING = ROUTES.filter((one) => nameOf(one) !== ENDLESS).toSorted(
  (a, b) => Number(nameOf(a) === LAST) - Number(nameOf(b) === LAST),
);

export interface Example {
  readonly query?: string;
  readonly body?: unknown;
  /** Instead of a body. */
  readonly text?: string;
  /** What its user gets where nothing is waiting or under way. */
  readonly status?: number;
  /** The same, as the bytes of a file. */
  readonly file?: string;
  /** Requests that make it possible, about the same thread. */
  readonly before?: readonly (readonly [keyof typeof EXAMPLES & string, unknown])[];
}

const LINES = '{"role":"user","content":"Which river?"}\n{"role":"assistant","content":"The Danube."}\n';
/** Stands for the first message of ada's thread. */
const MESSAGE = -1;
const MINE = { id: "m1", role: "user", parts: [{ type: "text", text: "And the egret?" }] };
const COMPACT = { window: 3600 };

export const EXAMPLES: Readonly<Record<string, Example>> = {
  "GET /healthz": {},
  "GET /readyz": {},
  "GET /metrics": {},
  "GET /openapi.json": {},
  [ENDLESS]: {},
  "GET /api/threads": { query: "?limit=5&kind=main" },
  "POST /api/threads": { body: { title: "A new one" } },
  "GET /api/threads/{id}": {},
  "PATCH /api/threads/{id}": { body: { title: "Another name" } },
  "DELETE /api/threads/{id}": { body: {} },
  "POST /api/threads/{id}/import": { text: LINES, query: "?skipInvalid=true" },
  "GET /api/threads/{id}/messages": {},
  "GET /api/threads/{id}/records": { query: "?after=1&limit=2" },
  "GET /api/threads/{id}/view": { query: "?window=8000" },
  "GET /api/threads/{id}/context": {},
  "GET /api/threads/{id}/timeline": {},
  "GET /api/threads/{id}/map": { query: "?q=harbor&tokens=500" },
  "GET /api/threads/{id}/requests/{seq}": {},
  "GET /api/threads/{id}/transcript": { query: "?limit=3&whole=true" },
  "GET /api/threads/{id}/window": { query: "?at=3" },
  "GET /api/threads/{id}/parts": { query: "?at=3" },
  "GET /api/threads/{id}/lines": { query: "?limit=2&length=20" },
  "GET /api/threads/{id}/search": { query: "?q=heron&limit=3" },
  "GET /api/search": { query: "?q=heron" },
  "POST /api/threads/{id}/compact": { body: { ...COMPACT, dryRun: true, focus: "birds" } },
  "POST /api/threads/{id}/undo": { body: {}, before: [["POST /api/threads/{id}/compact", COMPACT]] },
  "POST /api/threads/{id}/redo": {
    body: {},
    before: [
      ["POST /api/threads/{id}/compact", COMPACT],
      ["POST /api/threads/{id}/undo", {}],
    ],
  },
  "POST /api/threads/{id}/fork": { body: { at: 1 } },
  "GET /api/threads/{id}/rules": {},
  "POST /api/threads/{id}/rules": { body: { text: "Never feed them bread." } },
  "POST /api/threads/{id}/edit-rule": { body: { rule: "r99", text: "Feed them." }, status: 422 },
  "POST /api/threads/{id}/end-rule": { body: { rule: "r99" }, status: 422 },
  "POST /api/threads/{id}/restore-rule": { body: { rule: "r99" }, status: 422 },
  "GET /api/threads/{id}/notes": {},
  "POST /api/threads/{id}/notes": { body: { name: "plan", text: "Count them.", revision: 0 } },
  "GET /api/threads/{id}/summary": {},
  "POST /api/threads/{id}/summary": { body: { act: "delete", item: "g99" }, status: 422 },
  "POST /api/threads/{id}/hide": { body: { seq: 9000 }, status: 422 },
  "POST /api/threads/{id}/show": { body: { seq: 9000 }, status: 422 },
  "POST /api/threads/{id}/compact-range": { body: { from: 9000, until: 9001 }, status: 422 },
  "POST /api/threads/{id}/pin": { body: { seq: MESSAGE } },
  "POST /api/threads/{id}/redact": { body: { seq: MESSAGE } },
  "POST /api/threads/{id}/verify": { body: {} },
  "POST /api/threads/{id}/runs": { body: { prompt: "And the egret?" } },
  "GET /api/runs/{run}": {},
  "GET /api/runs/{run}/stream": { query: "?after=1" },
  "POST /api/runs/{run}/cancel": { body: {} },
  "GET /api/threads/{id}/approvals": {},
  "POST /api/threads/{id}/approve": { body: { call: "c", answer: "yes" }, status: 422 },
  "POST /api/chat": { body: { id: "new", messages: [MINE] } },
  "GET /api/chat/{id}": {},
  "GET /api/chat/{id}/stream": { status: 204 },
  "POST /api/threads/{id}/uploads": { query: "?name=notes.txt", file: "Herons wade." },
  "GET /api/threads/{id}/uploads": {},
  "DELETE /api/threads/{id}/uploads/{name}": { body: {} },
  "GET /api/threads/{id}/artifacts": {},
  "GET /api/threads/{id}/artifacts/{path}": {},
  "GET /api/memory": {},
  "PUT /api/memory": { body: { "userContext.topOfMind": "cranes" } },
  "GET /api/memory/facts": { query: "?q=heron" },
  "POST /api/memory/facts": { body: { content: "Likes cranes too", category: "preference", confidence: 0.9 } },
  "GET /api/memory/facts/{fact}": {},
  "PATCH /api/memory/facts/{fact}": { body: { content: "Watches grey herons" } },
  "DELETE /api/memory/facts/{fact}": { body: {} },
  "GET /api/memory/history": {},
  "POST /api/memory/undo": { body: {} },
  "GET /api/memory/export": {},
  "POST /api/memory/import": { body: { userContext: {}, history: {}, facts: [] } },
  "POST /api/memory/reload": { body: {} },
  "GET /api/memory/config": {},
  "GET /api/memory/status": {},
  "GET /api/models": {},
  "GET /api/skills": {},
  "PUT /api/skills/{name}": { body: { enabled: false } },
  "GET /api/subagents": {},
  "POST /api/lab": { text: LINES, query: "?window=8000" },
  "GET /api/requests": { query: "?limit=5&thread=t" },
  "GET /api/requests/{request}": {},
  "GET /api/user": {},
  "GET /api/user/export": {},
  "DELETE /api/user": {},
  "POST /api/session": { body: { key: "pal_nobodys" }, status: 401 },
  "DELETE /api/session": { body: {} },
  "GET /api/keys": {},
  "POST /api/keys": { body: { user: "carol", role: "delegate", expires: "1d" } },
  "DELETE /api/keys/{key}": { body: {} },
};

export function nameOf({ method, path }: Pick<Route, "method" | "path">): string {
  return `${method} ${path}`;
}

export interface World extends Running {
  /** By user; `ops` is an admin. */
  readonly keys: Readonly<Record<"ada" | "bob" | "ops", string>>;
  /** The seq of the first message of ada's thread. */
  readonly message: number;
  /** The path with a fresh thread, fact and key of ada's in it. */
  filled(path: string): Promise<string>;
  ask(name: string, path: string, as: keyof World["keys"], example?: Example): Promise<Answered>;
}

/** Ada has a thread with some turns by an agent, and a fact; nobody else has anything. */
/** Nothing is learned while a test runs, however long it takes. */
const UNLEARNED = "memory: { debounce_seconds: 300 }\n";

export async function world(t: TestContext, options: RunningOptions = {}): Promise<World> {
  const at = await running(t, { skill: "birds", config: UNLEARNED, ...options });
  const rows = at.home.store.keys!;
  const key = async (userId: string, role: "user" | "admin") =>
    (await createKey(rows, { user: userId, role, expiresAt: null }, new Date())).key;
  const keys = { ada: await key("ada", "user"), bob: await key("bob", "user"), ops: await key("ops", "admin") };
  const ada = at.home.forUser("ada");
  await talk(ada);
  const message = await firstMessage(ada);
  let count = 0;
  const ask: World["ask"] = (name, path, as, { query = "", body, text, file } = {}) => {
    const [method] = name.split(" ") as [string];
    const json = body === undefined ? undefined : JSON.stringify(body).replace(`:${MESSAGE}}`, `:${message}}`);
    const headers = {
      authorization: `Bearer ${keys[as]}`,
      ...(json !== undefined && { "content-type": "application/json" }),
      ...(text !== undefined && { "content-type": "application/jsonl" }),
      ...(file !== undefined && { "content-type": "application/octet-stream", "x-palimpsest-upload": "1" }),
    };
    const content = text ?? file ?? json;
    return sent(at, path + query, { method, headers, ...(content !== undefined && { body: content }) });
  };
  const made = async (name: string, path: string, body: object) =>
    JSON.parse((await ask(name, path, name.endsWith("keys") ? "ops" : "ada", { body })).text);
  const filled = async (path: string) => {
    count += 1;
    const { thread } = await made("POST fork", "/api/threads/t/fork", { as: `t-${count}` });
    const fact = path.includes("{fact}")
      ? (await made("POST facts", "/api/memory/facts", { content: `Watches herons at mile ${count}` })).fact.id
      : "";
    if (/\{(name|path)\}/.test(path))
      await ask("POST uploads", `/api/threads/${thread}/uploads`, "ada", {
        query: "?name=birds.txt",
        file: "Grey herons.",
      });
    const run = path.includes("{run}")
      ? (await made("POST runs", "/api/threads/t/runs", { prompt: `Note the heron ${count}` })).run
      : "";
    const asked = { model: "any", messages: [{ role: "user", content: `A heron at mile ${count}` }] };
    const request = path.includes("{request}")
      ? String((await ask("POST chat", "/v1/chat/completions", "ada", { body: asked })).headers["x-request-id"])
      : "";
    const id = path.includes("{key}") ? (await made("POST keys", "/api/keys", { user: "dora" })).id : "";
    const name = path.includes("/skills/") ? "birds" : "birds.txt";
    return path
      .replace("{name}", name)
      .replace("{path}", "uploads/birds.txt")
      .replace("{id}", thread)
      .replace("{fact}", fact)
      .replace("{run}", run)
      .replace("{key}", id)
      .replace("{request}", request)
      .replace("{seq}", "1");
  };
  return { ...at, keys, message, ask, filled };
}

async function firstMessage({ store }: Home): Promise<number> {
  for await (const { record } of store.records("t", { kinds: ["message"] })) return record.seq;
  throw new Error("nothing was said");
}

async function talk(home: Home): Promise<void> {
  const { agent, memory } = await home.agent();
  try {
    for (const bird of ["heron", "crane", "stork", "ibis"])
      await agent.generate({
        threadId: "t",
        prompt: `Note this about the ${bird}: ${`${bird} by the water, `.repeat(60)}`,
      });
  } finally {
    await memory?.close(0);
    await agent.close();
  }
}
