// Every route of the table on a real server: as its user, as another one, as an admin; and the document made from it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ENDING, EXAMPLES, nameOf, ROUTES, world } from "../test/examples.ts";
import { codeOf, sent } from "../test/running.ts";
import { pathNames } from "./http/route.ts";

/** Whose thread isn't there gets one of that name: their own. */
const MAKES_ITS_OWN: ReadonlySet<string> = new Set(["POST /api/threads/{id}/import", "POST /api/threads/{id}/runs"]);

test("there is an example for every route, and for nothing else", () => {
  assert.deepEqual(Object.keys(EXAMPLES).toSorted(), ROUTES.map(nameOf).toSorted());
});

test("every route answers its user as the description says", async (t) => {
  const at = await world(t);
  for (const route of ENDING) {
    const name = nameOf(route);
    const { before = [], ...example } = EXAMPLES[name]!;
    const path =
      name.endsWith("/import") && name.includes("threads")
        ? "/api/threads/imported/import"
        : await at.filled(route.path);
    for (const [first, body] of before)
      assert.equal(
        (await at.ask(first, path.replace(/\/\w+$/, first.slice(first.lastIndexOf("/"))), "ada", { body })).status,
        200,
        first,
      );
    const as = route.access === "admin" ? "ops" : "ada";
    const body = name === "DELETE /api/user" ? { user: "ada" } : example.body;
    const answer = await at.ask(name, path, as, { ...example, ...(body !== undefined && { body }) });
    assert.equal(answer.status, example.status ?? route.status ?? 200, `${name}: ${answer.text.slice(0, 500)}`);
    if (example.status !== undefined) continue;
    const type = String(answer.headers["content-type"]);
    const gives = route.streams === "always" ? "text/event-stream" : (route.gives ?? "application/json");
    assert.ok(gives === "*/*" || type.startsWith(gives), `${name} gives ${type}`);
    const given = gives === "application/json" ? JSON.parse(answer.text) : answer.text;
    const checked = route.answer.safeParse(given);
    assert.ok(checked.success, `${name}: ${JSON.stringify(checked.error?.issues)}`);
  }
  assert.equal((await at.ask("GET", "/api/user", "ada")).status, 401, "her key was ended with everything else");
  const left = await sent(at, "/api/user/export", {
    headers: { "x-api-key": at.keys.ops, "x-palimpsest-user": "ada" },
  });
  const kinds = left.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    kinds.map(({ kind }) => kind).filter((kind) => kind !== "memory"),
    ["user", "key"],
    "everything of ada's was deleted last",
  );
  assert.doesNotMatch(left.text, /heron|crane/i);
});

test("to another user everything of ada's is as if it didn't exist, and nothing of it changes", async (t) => {
  const at = await world(t);
  const everything = async () => (await at.ask("GET", "/api/user/export", "ada")).text.replace(/^.*\n/, "");
  for (const route of ENDING.filter(({ access }) => access === "user")) {
    const name = nameOf(route);
    const path = await at.filled(route.path);
    const before = await everything();
    const body = name === "DELETE /api/user" ? { user: "bob" } : EXAMPLES[name]!.body;
    const answer = await at.ask(name, path, "bob", { ...EXAMPLES[name]!, ...(body !== undefined && { body }) });
    const isAbout = pathNames(route.path).length > 0 && !MAKES_ITS_OWN.has(name);
    if (name === "GET /api/chat/{id}/stream") assert.deepEqual([answer.status, answer.text], [204, ""]);
    else if (isAbout) assert.deepEqual([answer.status, codeOf(answer)], [404, "missing"], name);
    else assert.ok(answer.status < 300 || codeOf(answer) === "nothing", `${name}: ${answer.text}`);
    // What he sent himself may come back.
    if (EXAMPLES[name]!.query === undefined && !isAbout) assert.doesNotMatch(answer.text, /heron|\bada\b/i, name);
    assert.equal(await everything(), before, name);
  }
});

test("an id that never was and another user's are answered alike, byte for byte", async (t) => {
  const at = await world(t);
  for (const route of ROUTES.filter(({ path, access }) => path.includes("{id}") && access === "user")) {
    const name = nameOf(route);
    if (MAKES_ITS_OWN.has(name)) continue;
    const ask = (id: string) =>
      at.ask(name, route.path.replace("{id}", id).replace("{seq}", "1"), "bob", EXAMPLES[name]!);
    const [others, nobodys] = [await ask("t"), await ask("u")];
    assert.equal(others.text.replaceAll('\\"t\\"', '\\"u\\"'), nobodys.text, name);
  }
});

test("what is an admin's is refused to a user, and an admin reaches a user's things by naming them", async (t) => {
  const at = await world(t);
  for (const route of ROUTES.filter(({ access }) => access === "admin")) {
    const answer = await at.ask(nameOf(route), await at.filled(route.path), "bob", EXAMPLES[nameOf(route)]!);
    assert.deepEqual([answer.status, codeOf(answer)], [403, "admin-only"], nameOf(route));
  }
  const ask = (userId: string) =>
    fetch(`${at.url}/api/threads/t`, { headers: { "x-api-key": at.keys.ops, "x-palimpsest-user": userId } });
  assert.deepEqual([(await ask("ada")).status, (await ask("bob")).status], [200, 404]);
});

test("the description names every route once, with its parameters, and refuses unknown fields", async (t) => {
  const at = await world(t);
  const document = JSON.parse((await at.ask("GET", "/openapi.json", "bob")).text);
  assert.equal(document.openapi, "3.1.0");
  const operations: { operationId: string }[] = Object.values<Record<string, { operationId: string }>>(
    document.paths,
  ).flatMap((path) => Object.values(path));
  assert.equal(operations.length, ROUTES.length);
  assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, ROUTES.length);
  const create = document.paths["/api/threads"].post;
  assert.equal(create.operationId, "postThreads");
  assert.equal(create.requestBody.content["application/json"].schema.additionalProperties, false);
  const search = document.paths["/api/threads/{id}/search"].get.parameters;
  assert.deepEqual(
    search.map(({ name, in: where, required }: Record<string, unknown>) => [name, where, required]),
    [
      ["id", "path", true],
      ["q", "query", true],
      ["limit", "query", false],
    ],
  );
});

test("with a window, view and context show what that window would force, and write nothing", async (t) => {
  const at = await world(t);
  const before = (await at.ask("GET", "/api/threads/t", "ada")).text;
  for (const what of ["view", "context"]) {
    const now = JSON.parse((await at.ask("GET", `/api/threads/t/${what}`, "ada")).text);
    const forced = JSON.parse((await at.ask("GET", `/api/threads/t/${what}?window=3600`, "ada")).text);
    const [size, smaller] = [now.tokens ?? now.total, forced.tokens ?? forced.total];
    assert.deepEqual([now.simulated, forced.simulated, smaller < size], [false, true, true], what);
  }
  assert.equal((await at.ask("GET", "/api/threads/t", "ada")).text, before);
});

test("a skill that is switched off is in no prompt, until it is switched on again", async (t) => {
  const at = await world(t);
  const prompt = async () => {
    const { agent, memory } = await at.home.agent();
    const { threadId } = await agent.generate({ prompt: "What now?" });
    await memory?.close(0);
    await agent.close();
    const { text } = await sent(at, `/api/threads/${threadId}/requests/1`, {
      headers: { "x-api-key": at.keys.ops, "x-palimpsest-user": "default" },
    });
    return /About birds/.test(text);
  };
  const turn = (enabled: boolean) => at.ask("PUT", "/api/skills/birds", "ops", { body: { enabled } });
  assert.equal(await prompt(), true);
  assert.equal((await turn(false)).status, 200);
  assert.deepEqual(JSON.parse((await at.ask("GET", "/api/skills", "ada")).text).skills[0].enabled, false);
  assert.equal(await prompt(), false);
  await turn(true);
  assert.equal(await prompt(), true);
  assert.equal((await at.ask("PUT", "/api/skills/none", "ops", { body: { enabled: true } })).status, 404);
});

test("the lab plays a thread of the caller's, and no other user's", async (t) => {
  const at = await world(t);
  const play = (as: "ada" | "bob") => at.ask("POST", "/api/lab", as, { query: "?thread=t&window=4000", text: "" });
  const played = JSON.parse((await play("ada")).text);
  assert.ok(played.policies.length > 2);
  assert.deepEqual([played.window, played.transcripts[0].messages], [4000, 8]);
  assert.equal((await play("bob")).status, 404);
  const nothing = await at.ask("POST", "/api/lab", "ada", { text: "" });
  assert.deepEqual([nothing.status, codeOf(nothing)], [422, "no-transcript"]);
});

test("the lab tells how far it is, then the report with a timeline for each policy; what can't be played is an error event", async (t) => {
  const at = await world(t);
  const play = async (query: string) => {
    const { text } = await at.ask("POST", "/api/lab", "ada", { query: `?stream=true${query}`, text: "" });
    return [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data!));
  };
  const events = await play("&thread=t&window=4000");
  const report = events.at(-1);
  const progress = events.slice(0, -1);
  assert.deepEqual([report.type, report.plots.length], ["lab-report", report.policies.length]);
  assert.ok(report.plots.every((timeline: readonly unknown[]) => timeline.length > 0));
  assert.ok(progress.every(({ type, done }) => type === "lab-progress" && done > 0 && done <= 1));
  assert.deepEqual((await play("")).at(-1).error.code, "no-transcript");
});
