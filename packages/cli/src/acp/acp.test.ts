// The protocol's own client library against the agent: prompts, permissions, compactions, sessions, and an editor that dies.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import {
  type ClientCapabilities,
  type ContentBlock,
  client,
  methods,
  type RequestPermissionOutcome,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { openHome } from "palimpsest/home";
import { verify } from "palimpsest/session";
import { BINARY, CLEAN, desk } from "../../test/binary.ts";
import { acpAgent } from "./agent.ts";
import { editorServers, replayed, userMessage } from "./content.ts";
import { createUpdates, promptEnd, titleOf } from "./updates.ts";

test("every kind of content of a prompt becomes a part of the message, and a link is only named", () => {
  const { content } = userMessage([
    { type: "text", text: "look" },
    { type: "image", data: "AA==", mimeType: "image/png" },
    { type: "resource_link", uri: "file:///a.ts", name: "a.ts" },
    { type: "resource", resource: { uri: "file:///b.ts", text: "let b" } },
    { type: "resource", resource: { uri: "file:///c", blob: "AA==" } },
  ]);
  assert.deepEqual(content, [
    { type: "text", text: "look" },
    { type: "file", mediaType: "image/png", data: "AA==" },
    { type: "text", text: "[a.ts](file:///a.ts)" },
    { type: "text", text: "file:///b.ts:\nlet b" },
    { type: "file", mediaType: "application/octet-stream", data: "AA==" },
  ]);
});

test("each end of a run is the protocol's own", () => {
  const stop = (reason: string) => ({ kind: "stop", reason });
  assert.deepEqual(promptEnd({ kind: "answered", finish: "stop" }), stop("end_turn"));
  assert.deepEqual(promptEnd({ kind: "answered", finish: "length" }), stop("max_tokens"));
  assert.deepEqual(promptEnd({ kind: "answered", finish: "content-filter" }), stop("refusal"));
  assert.deepEqual(promptEnd({ kind: "aborted" }), stop("cancelled"));
  assert.deepEqual(promptEnd({ kind: "step-limit", limit: 3 }), stop("max_turn_requests"));
  assert.equal(promptEnd({ kind: "busy", renewedAt: "", expiresAt: "" }).kind, "failed");
});

test("a call's title says what it is about in one short line", () => {
  assert.equal(titleOf("bash", { command: "ls\nrm" }), "bash ls");
  assert.equal(titleOf("todo", {}), "todo");
  assert.equal(titleOf("read_file", { path: "x".repeat(100) }).length, "read_file ".length + 80);
});

test("an editor's servers are taken as the configuration writes them, and other kinds are named", () => {
  const warnings: string[] = [];
  const servers = editorServers(
    [
      { name: "my tools", command: "npx", args: ["x"], env: [{ name: "A", value: "1" }] },
      { type: "http", name: "web", url: "https://x.example", headers: [] },
      { type: "sse", name: "old", url: "https://y.example", headers: [] },
    ],
    (text) => warnings.push(text),
  );
  assert.deepEqual(Object.keys(servers), ["my-tools", "web"]);
  assert.deepEqual("env" in servers["my-tools"]! && servers["my-tools"].env, { A: "1" });
  assert.match(warnings.join(), /"old" is left out/);
});

test("compactions are told only to an editor that shows them", () => {
  const start = { type: "compaction-start", hide: 4, keep: 2 } as const;
  const silent = createUpdates({ compactions: false, ids: () => "c" });
  assert.deepEqual(silent(start), []);
  const told = createUpdates({ compactions: true, ids: () => "c" });
  assert.deepEqual(told(start), [{ sessionUpdate: "compaction_update", compactionId: "c", status: "in_progress" }]);
});

test("what was said is shown again as it was while it was said", () => {
  assert.deepEqual(
    replayed("assistant", [
      { kind: "text", text: "I look." },
      { kind: "call", id: "1", name: "ls", input: '{"path":"."}' },
    ]),
    [
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "I look." } },
      {
        sessionUpdate: "tool_call",
        toolCallId: "1",
        title: "ls",
        name: "ls",
        status: "in_progress",
        rawInput: { path: "." },
      },
    ],
  );
  assert.deepEqual(replayed("system", [{ kind: "text", text: "rules" }]), []);
});

test("a prompt is answered in pieces, with the size of the window, and is a thread like any other", async (t) => {
  const { editor, home, cwd, updates } = await connected(t);
  const { sessionId } = await editor.request(methods.agent.session.new, { cwd, mcpServers: [] });
  const prompt: ContentBlock[] = [{ type: "text", text: "my dog is called Rex" }];
  const answer = await editor.request(methods.agent.session.prompt, { sessionId, prompt });
  assert.equal(answer.stopReason, "end_turn");
  const kinds = updates.map(({ sessionUpdate }) => sessionUpdate);
  for (const kind of ["available_commands_update", "agent_message_chunk", "usage_update", "session_info_update"])
    assert.ok(kinds.includes(kind as never), `${kind} in ${kinds}`);
  const usage = updates.find((one) => one.sessionUpdate === "usage_update");
  assert.ok(usage?.sessionUpdate === "usage_update" && usage.used > 0 && usage.size > usage.used);
  const { threads } = await home.store.threads();
  assert.deepEqual(
    threads.map(({ header, messages }) => [header.id, messages]),
    [[sessionId, 2]],
  );
});

test("writing a file in the editor's folder is asked about: allowed, refused, answered with what was no choice, always, canceled", async (t) => {
  const asked: string[] = [];
  let word: RequestPermissionOutcome | "cancel" = { outcome: "selected", optionId: "allow" };
  const at = await connected(t, {
    async permit(title, sessionId) {
      asked.push(title);
      if (word !== "cancel") return word;
      await at.editor.notify(methods.agent.session.cancel, { sessionId });
      return { outcome: "cancelled" };
    },
  });
  const { editor, cwd } = at;
  const { sessionId } = await editor.request(methods.agent.session.new, { cwd, mcpServers: [] });
  const say = (text: string) =>
    editor.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  assert.equal((await say("write one to a.txt")).stopReason, "end_turn");
  assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "one");
  word = { outcome: "selected", optionId: "reject" };
  await say("write two to b.txt");
  assert.ok(!existsSync(join(cwd, "b.txt")));
  word = { outcome: "selected", optionId: "deny" };
  await say("write more to b.txt");
  assert.ok(!existsSync(join(cwd, "b.txt")));
  word = "cancel";
  assert.equal((await say("write three to c.txt")).stopReason, "cancelled");
  assert.ok(!existsSync(join(cwd, "c.txt")));
  word = { outcome: "selected", optionId: "always" };
  await say("write four to d.txt");
  assert.equal(readFileSync(join(cwd, "d.txt"), "utf8"), "four");
  const before = asked.length;
  await say("write five to e.txt");
  assert.equal(readFileSync(join(cwd, "e.txt"), "utf8"), "five");
  assert.equal(asked.length, before, "not asked again");
  assert.ok(asked.every((title) => title.startsWith("write_file")));
});

test("a compaction is told as it happens, and taken back by a word", async (t) => {
  const at = await connected(t, {
    config: "summarization: {enabled: true, trigger: {type: messages, value: 6}, keep: {type: messages, value: 2}}\n",
    capabilities: { session: { compaction: {} } },
  });
  const { editor, cwd, updates, home } = at;
  const { sessionId } = await editor.request(methods.agent.session.new, { cwd, mcpServers: [] });
  const say = (text: string) =>
    editor.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  for (let turn = 0; turn < 6; turn++) await say(`note ${turn}: ${"the harbor lights are green tonight ".repeat(30)}`);
  const told = updates.flatMap((one) => (one.sessionUpdate === "compaction_update" ? [one] : []));
  const statuses = new Set(told.map(({ status }) => status));
  assert.ok(statuses.has("in_progress") && statuses.has("completed"), JSON.stringify(told));
  const undone = async () => (await home.store.head(sessionId))!.compaction;
  assert.notEqual(await undone(), null);
  await say("/undo");
  const words = updates.flatMap((one) =>
    one.sessionUpdate === "agent_message_chunk" && one.content.type === "text" ? [one.content.text] : [],
  );
  assert.match(words.join("\n"), /Done: undone/);
  assert.equal((await say("/compact the lights")).stopReason, "end_turn");
});

test("a session is listed with the folder it works in, also by an agent that starts later; another thread with the one asked for", async (t) => {
  const { editor, home, cwd } = await connected(t);
  const { sessionId } = await editor.request(methods.agent.session.new, { cwd, mcpServers: [] });
  const prompt: ContentBlock[] = [{ type: "text", text: "the gate code is 7741" }];
  await editor.request(methods.agent.session.prompt, { sessionId, prompt });
  const { agent } = await home.agent({});
  await agent.generate({ threadId: "from-a-terminal", prompt: "hello" });
  await agent.close();
  const later = client({ name: "later" }).connect(acpAgent({ home, version: "0", warn: () => {} }).app);
  t.after(() => later.close());
  await later.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
  for (const each of [editor, later.agent]) {
    const { sessions } = await each.request(methods.agent.session.list, { cwd: home.directory });
    assert.deepEqual(Object.fromEntries(sessions.map((one) => [one.sessionId, one.cwd])), {
      [sessionId]: cwd,
      "from-a-terminal": home.directory,
    });
  }
});

test("a session is listed, loaded with all that was said, resumed without it, closed and deleted", async (t) => {
  const { editor, cwd, updates } = await connected(t);
  const { sessionId } = await editor.request(methods.agent.session.new, { cwd, mcpServers: [] });
  const prompt: ContentBlock[] = [{ type: "text", text: "the gate code is 7741" }];
  await editor.request(methods.agent.session.prompt, { sessionId, prompt });
  await editor.request(methods.agent.session.close, { sessionId });
  await assert.rejects(editor.request(methods.agent.session.prompt, { sessionId, prompt }), /not found/i);
  const { sessions } = await editor.request(methods.agent.session.list, { cwd });
  assert.deepEqual(
    sessions.map((one) => one.sessionId),
    [sessionId],
  );
  const said = () => updates.filter((one) => one.sessionUpdate === "user_message_chunk").length;
  await editor.request(methods.agent.session.resume, { sessionId, cwd, mcpServers: [] });
  assert.equal(said(), 0);
  await editor.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
  assert.equal(said(), 1);
  assert.equal((await editor.request(methods.agent.session.prompt, { sessionId, prompt })).stopReason, "end_turn");
  await editor.request(methods.agent.session.delete, { sessionId });
  await assert.rejects(editor.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] }), /not found/i);
});

test("a folder that isn't there, an unknown session and nonsense are refused, and the connection goes on", async (t) => {
  const { editor, cwd } = await connected(t);
  await assert.rejects(editor.request(methods.agent.session.new, { cwd: "nowhere", mcpServers: [] }));
  await assert.rejects(editor.request(methods.agent.session.new, { cwd: "/no/such/folder", mcpServers: [] }));
  await assert.rejects(
    editor.request(methods.agent.session.load, { sessionId: "../../etc", cwd, mcpServers: [] }),
    /not found/i,
  );
  await assert.rejects(editor.request("session/dance", {}));
  await assert.rejects(editor.request(methods.agent.session.prompt, { sessionId: "x" } as never));
  assert.ok((await editor.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId);
});

test("an editor that dies in the middle of a prompt ends the program, and the log is whole", async (t) => {
  const { home, file } = desk(t);
  const cwd = file("project");
  mkdirSync(cwd);
  const args = ["--conditions=palimpsest-source", BINARY, "acp", "--home", home];
  const child = spawn(process.execPath, args, { env: CLEAN, stdio: ["pipe", "pipe", "ignore"] });
  t.after(() => child.kill("SIGKILL"));
  const send = (id: number, method: string, params: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  let printed = "";
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    printed += `${line}\n`;
  });
  send(1, "initialize", { protocolVersion: 1 });
  await once(lines, "line");
  send(2, "session/new", { cwd, mcpServers: [] });
  const [answer] = (await once(lines, "line")) as [string];
  const { sessionId } = JSON.parse(answer).result as { sessionId: string };
  send(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "my cat is called Tom" }] });
  child.stdin.end();
  const [code] = await once(child, "close");
  assert.equal(code, 0);
  for (const line of printed.split("\n").filter(Boolean)) assert.equal(JSON.parse(line).jsonrpc, "2.0");
  const opened = await openHome({ home, cwd: home, env: { HOME: home } });
  t.after(() => opened.close());
  const verdict = await verify(opened, sessionId);
  assert.ok(verdict.kind === "missing" || verdict.kind === "whole", verdict.kind);
});

interface EditorOptions {
  readonly config?: string;
  readonly capabilities?: ClientCapabilities;
  readonly permit?: (title: string, sessionId: string) => Promise<RequestPermissionOutcome>;
}

async function connected(t: TestContext, { config, capabilities = {}, permit }: EditorOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), "palimpsest-acp-"));
  const cwd = join(directory, "project");
  mkdirSync(cwd);
  if (config !== undefined) writeFileSync(join(directory, "config.yaml"), config);
  const home = await openHome({ home: directory, cwd: directory, env: { HOME: directory } });
  const served = acpAgent({ home, version: "0", warn: () => {} });
  const updates: SessionUpdate[] = [];
  const app = client({ name: "test-editor" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, async ({ params }) => ({
      outcome: (await permit?.(params.toolCall.title ?? "", params.sessionId)) ?? { outcome: "cancelled" },
    }));
  const connection = app.connect(served.app);
  t.after(async () => {
    connection.close();
    await served.close();
    await home.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const editor = connection.agent;
  await editor.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: capabilities });
  return { editor, home, cwd, updates };
}
