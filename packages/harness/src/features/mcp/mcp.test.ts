// The tools of a server that the configuration names, in an agent: called, refused, asked about, and gone.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { scriptedModel } from "@palimpsest/testing";
import { createAgentFromConfig } from "../../home/from-config.ts";
import { powersOf } from "../../home/powers.ts";
import { configSchema } from "../../home/schema.ts";
import { openSqlite } from "../../stores/sqlite.ts";
import { modelParts, textOf, toolNames } from "./middleware.ts";

const SERVER = fileURLToPath(new URL("../../../test/mcp/server.ts", import.meta.url));

test("a tool is named after its server, as providers take names, and a second one of the same name is told", () => {
  const { names, clashing } = toolNames("git hub", ["list-issues", "a.b", "a b", "x".repeat(80)]);
  assert.deepEqual(
    [...names],
    [
      ["git_hub_list-issues", "list-issues"],
      ["git_hub_a_b", "a.b"],
      [`git_hub_${"x".repeat(56)}`, "x".repeat(80)],
    ],
  );
  assert.deepEqual(clashing, ["a b"]);
});

test("an answer's text and images are shown as they are, anything else by what it says of itself", () => {
  const image = { type: "image", data: "AA==", mimeType: "image/png" };
  const blocks = [
    { type: "text", text: "seen" },
    image,
    { type: "resource_link", uri: "file:///a", name: "a" },
    { type: "resource", resource: { uri: "file:///b", text: "words" } },
    { type: "audio", data: "AA==", mimeType: "audio/wav" },
  ];
  assert.deepEqual(modelParts(blocks), [
    { type: "text", text: "seen" },
    { type: "file", mediaType: "image/png", data: { type: "data", data: "AA==" } },
    { type: "text", text: "[resource_link a file:///a]" },
    { type: "text", text: "words" },
    { type: "text", text: "[audio audio/wav]" },
  ]);
  assert.equal(textOf([image]), "[image/png]");
  assert.deepEqual(modelParts([], { rows: 1 }), [{ type: "text", text: '{"rows":1}' }]);
});

test("a configuration that was found and names a server would run a program or reach an address, and says so", () => {
  const written = {
    mcp_servers: { a: { command: "npx", args: ["-y", "thing"] }, b: { url: "https://u:p@x.example/mcp" }, c: {} },
  };
  assert.deepEqual(
    powersOf(written).map(({ kind, key, detail }) => [kind, key, detail]),
    [
      ["host", "mcp_servers.a.command", "run the program npx -y thing on this machine"],
      ["address", "mcp_servers.b.url", "give the agent the tools of https://…@x.example/mcp"],
      ["host", "mcp_servers.c.command", "start the MCP server c on this machine"],
    ],
  );
});

test("the agent calls a server's tool, and the log names the server", async (t) => {
  const { ask, calls } = await agentWith(t, {});
  const said = await ask("docs_look_up", { word: "palimpsest" });
  assert.match(said, /palimpsest means so/);
  assert.deepEqual(await calls(), ["docs_look_up"]);
});

test("what a server refuses is an error result that the model reads", async (t) => {
  const { ask } = await agentWith(t, {});
  assert.match(await ask("docs_fail", {}), /no such row/);
});

test("a picture reaches the model as a picture", async (t) => {
  const { ask } = await agentWith(t, {});
  assert.match(await ask("docs_picture", {}), /iVBORw0KGgo=/);
});

test("a server that died is started again by the next call", async (t) => {
  const { ask, starts } = await agentWith(t, {});
  await ask("docs_die", {});
  assert.match(await ask("docs_look_up", { word: "again" }), /again means so/);
  assert.equal(starts().length, 2);
});

test("a server sees the variables that were named for it, and none of the others", async (t) => {
  process.env["UNNAMED"] = "a key of mine";
  t.after(() => delete process.env["UNNAMED"]);
  const { ask } = await agentWith(t, { env: { NAMED: "given" } });
  assert.match(await ask("docs_secrets", {}), /\[\\?"given\\?",null\]/);
});

test("a tool that doesn't say that it only reads is asked about, unless the configuration or the person allows it", async (t) => {
  const input = { note: "x" };
  const asked = await agentWith(t, {});
  assert.equal((await asked.run("docs_write", input)).end.kind, "approval");
  const none = await agentWith(t, { approval: "none" });
  assert.match(await none.ask("docs_write", input), /kept x/);
  const allowed = await agentWith(t, {}, new Set(["docs_write"]));
  assert.match(await allowed.ask("docs_write", input), /kept x/);
  const all = await agentWith(t, { approval: "all" });
  assert.equal((await all.run("docs_look_up", { word: "x" })).end.kind, "approval");
});

test("only the tools that are named are there, and a name the server doesn't have is told", async (t) => {
  const { warnings, tools, run } = await agentWith(t, { tools: ["fail", "sing"] });
  await run("docs_fail", {});
  assert.deepEqual(
    tools().filter((name) => name.startsWith("docs_")),
    ["docs_fail"],
  );
  assert.match(warnings.join(), /"sing", which the server doesn't have/);
});

test("a server that can't be started costs a warning, not the run", async (t) => {
  const { warnings, ask } = await agentWith(t, { command: "/nowhere/at/all", args: [] });
  await ask("docs_look_up", { word: "x" });
  assert.match(warnings.join(), /the MCP server "docs" can't be used: /);
});

test("the warning about a server shows neither the password nor the key of its address", async (t) => {
  const url = "http://ada:pass2233@127.0.0.1:9/mcp?token=query4455";
  const { warnings, ask } = await agentWith(t, { url });
  await ask("docs_look_up", { word: "x" });
  assert.match(warnings.join(), /the MCP server "docs" can't be used: .*\[secret\]/);
  assert.doesNotMatch(warnings.join(), /pass2233|query4455/);
});

async function agentWith(t: TestContext, settings: object, approved: ReadonlySet<string> = new Set()) {
  const home = mkdtempSync(join(tmpdir(), "palimpsest-mcp-"));
  const store = openSqlite({ path: ":memory:" });
  const log = join(home, "started");
  const { env = {}, ...rest } = settings as { env?: Record<string, string> };
  const args = ["--conditions=palimpsest-source", SERVER];
  const started = { command: process.execPath, args, env: { STARTED: log, ...env } };
  const docs = "url" in rest ? rest : { ...started, ...rest };
  const config = configSchema.parse({ mcp_servers: { docs }, memory: { enabled: false }, title: { enabled: false } });
  const warnings: string[] = [];
  let next: { name: string; input: object } | null = null;
  const model = scriptedModel(() => {
    const call = next;
    next = null;
    return call === null ? "done" : { calls: [call] };
  });
  const assistant = await createAgentFromConfig({
    home,
    config,
    store,
    model,
    approved,
    onWarning: (text) => warnings.push(text),
  });
  t.after(async () => {
    await assistant.agent.close();
    await store.close();
    rmSync(home, { recursive: true });
  });
  const run = async (name: string, input: object) => {
    next = { name, input };
    return assistant.agent.generate({ threadId: "t", prompt: "go on" });
  };
  const messages = async () => JSON.stringify(await assistant.agent.thread("t").messages());
  return {
    warnings,
    run,
    async ask(name: string, input: object) {
      await run(name, input);
      return messages();
    },
    calls: async () =>
      [...(await messages()).matchAll(/"toolName":"(docs_\w+)"/g)].map(([, name]) => name!).slice(0, 1),
    tools: () => (model.calls[0]?.options.tools ?? []).map(({ name }) => name),
    starts: () => readFileSync(log, "utf8").trim().split("\n"),
  };
}
