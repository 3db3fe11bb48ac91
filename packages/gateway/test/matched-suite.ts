/** What clients do with their history, row by row: the outcome that the answer names, and the log. For any engine. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { openHome } from "palimpsest/home";
import { createKey } from "palimpsest/internal/key-operations";
import { replay } from "palimpsest/internal/threads";
import { copyStore, redact } from "palimpsest/session";
import { openSqlite } from "palimpsest/stores";
import { createGateway } from "../src/index.ts";
import { type BeforeProvider, type BeforeProviderOptions, beforeProvider } from "./before-provider.ts";
import { PATIENT } from "./running.ts";

type Message = Readonly<Record<string, unknown>>;

interface Heard {
  readonly status: number;
  readonly match: string | null;
  readonly thread: string | null;
  readonly view: string | null;
  readonly message: Message;
}

const user = (content: unknown): Message => ({ role: "user", content });

interface Talk {
  ask(messages: readonly Message[], more?: AskOptions): Promise<Heard>;
  said(threadId: string | null): Promise<readonly unknown[]>;
  readonly served: BeforeProvider;
}

interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Message;
  readonly path?: string;
  readonly url?: string;
}

/** `storeUrl`: a fresh store for each number; null: the home's own. */
export function matchedSuite(engine: string, storeUrl: (number: number) => string | null): void {
  describe(`what clients do with their history, on ${engine}`, () => {
    let databases = 0;
    async function talk(t: TestContext, options: BeforeProviderOptions = {}): Promise<Talk> {
      databases += 1;
      const address = storeUrl(databases);
      const store =
        address === null
          ? ""
          : `store: {url: ${JSON.stringify(address)}}
`;
      const config = store + (options.config ?? "");
      const served = await beforeProvider(t, { respond: ({ index }) => `answer ${index}`, ...options, config });
      return {
        served,
        ask: (messages, more = {}) => asked(served, messages, more),
        async said(thread) {
          const bodies: unknown[] = [];
          for await (const { body } of replay(served.home, thread!)) bodies.push(JSON.parse(body).content);
          return bodies;
        },
      };
    }

    test("an edit, an answer asked for again and a branch are forks; the trunk goes on", async (t) => {
      const { ask, said } = await talk(t);
      const first = await ask([user("one")]);
      const known = [user("one"), first.message];
      const second = await ask([...known, user("two")]);
      const edited = await ask([...known, user("other")]);
      const again = await ask([...known, user("two")]);
      const trunk = await ask([...known, user("two"), second.message, user("three")]);
      const branch = await ask([...known, user("other"), edited.message, user("more")]);
      assert.deepEqual(
        [first, second, edited, again, trunk, branch].map(({ match }) => match),
        ["new", "extended", "forked", "forked", "extended", "extended"],
      );
      assert.deepEqual(await said(trunk.thread), ["one", "answer 0", "two", "answer 1", "three", "answer 4"]);
      assert.deepEqual(await said(branch.thread), ["one", "answer 0", "other", "answer 2", "more", "answer 5"]);
      assert.equal(trunk.thread, first.thread);
      assert.equal(branch.thread, edited.thread);
    });

    test("two that begin alike don't share a thread", async (t) => {
      const { ask } = await talk(t);
      const [one, two] = [await ask([user("hi")]), await ask([user("hi")])];
      assert.deepEqual([one.match, two.match], ["new", "new"]);
      assert.notEqual(one.thread, two.thread);
      const own = await ask([user("hi"), one.message, user("go on")]);
      assert.equal(own.thread, one.thread);
    });

    test("parallel twins are answered at once, each in a thread of its own", async (t) => {
      const { ask, said } = await talk(t);
      const first = await ask([user("one")]);
      const messages = [user("one"), first.message, user("two")];
      const twins = await Promise.all([ask(messages), ask(messages), ask(messages)]);
      assert.deepEqual(twins.map(({ match }) => match).toSorted(), ["extended", "forked", "forked"]);
      for (const { thread } of twins) assert.equal((await said(thread)).length, 4);
    });

    test("a request that failed is asked again in the same thread, and nothing is stored twice", async (t) => {
      const { ask, said } = await talk(t, {
        faults: { 0: { kind: "server-error" }, 2: { kind: "rate-limit", retryAfterSeconds: 3 } },
      });
      const failed = await ask([user("one")]);
      const first = await ask([user("one")]);
      assert.deepEqual([failed.status, failed.thread, first.match], [500, first.thread, "extended"]);
      const messages = [user("one"), first.message, user("two")];
      assert.equal((await ask(messages)).status, 429);
      const second = await ask(messages);
      assert.deepEqual([second.match, second.thread], ["extended", first.thread]);
      assert.deepEqual(await said(first.thread), ["one", "answer 1", "two", "answer 3"]);
    });

    test("what clients change without saying anything is no change: system prompt, spelling, marks, ids", async (t) => {
      const { ask } = await talk(t, {
        respond: ({ index }) =>
          index === 0 ? { text: "", calls: [{ id: "c1", name: "f", input: { a: 1, b: 2 } }] } : "done",
      });
      const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
      const system = (text: string): Message => ({ role: "system", content: text });
      const first = await ask([system("Monday"), user("one")], { body: { tools } });
      const call = { id: "other", type: "function", function: { name: "f", arguments: '{ "b": 2, "a": 1 }' } };
      const second = await ask(
        [
          system("Tuesday"),
          user([{ type: "text", text: "one" }]),
          { role: "assistant", tool_calls: [call] },
          { role: "tool", tool_call_id: "other", content: "ok" },
        ],
        { body: { tools } },
      );
      assert.deepEqual([second.match, second.thread], ["extended", first.thread]);
    });

    test("dropped thinking and moved cache marks are no change", async (t) => {
      const { ask } = await talk(t, { respond: () => ({ reasoning: "Hm.", text: "yes" }) });
      const path = "/v1/messages";
      const body = { max_tokens: 100 };
      const marked = [{ type: "text", text: "one", cache_control: { type: "ephemeral" } }];
      const first = await ask([user(marked)], { path, body });
      assert.ok(JSON.stringify(first.message).includes("thinking"), JSON.stringify(first.message));
      const without = {
        role: "assistant",
        content: [{ type: "text", text: "yes", cache_control: { type: "ephemeral" } }],
      };
      const second = await ask([user("one"), without, user("two")], { path, body });
      assert.deepEqual([second.match, second.thread], ["extended", first.thread]);
    });

    test("a session's name narrows and doesn't decide: title calls pass, its own compaction is a thread with a parent", async (t) => {
      const { ask, served } = await talk(t);
      const headers = { "x-claude-code-session-id": "s1" };
      const first = await ask([user("one")], { headers });
      const title = await ask([user("Name this chat")], { headers, body: { max_tokens: 20 } });
      assert.deepEqual([title.match, title.thread], ["passed", null]);
      const agent = await ask([user("A sub-agent's task")], { headers });
      assert.equal(agent.match, "new");
      const compacted = await ask(
        [user("Summary: it was about one."), { role: "assistant", content: "I see." }, user("two")],
        { headers },
      );
      assert.equal(compacted.match, "new");
      assert.equal((await served.home.store.header(compacted.thread!))?.parent, agent.thread);
      const next = await ask([user("one"), first.message, user("on")], { headers });
      assert.equal(next.thread, first.thread, "the main conversation is still known");
    });

    test("a client that cuts its head off is known by two answers in a row, with a name or a group, and never without", async (t) => {
      const { ask, said } = await talk(t);
      const headers = { "x-session-id": "s" };
      const messages: Message[] = [];
      let last: Heard | null = null;
      for (const text of ["one", "two", "three", "four"]) {
        messages.push(user(text));
        last = await ask(messages, { headers });
        messages.push(last.message);
      }
      const cut = [...messages.slice(4), user("five")];
      const next = await ask(cut, { headers });
      assert.deepEqual([next.match, next.thread], ["extended", last!.thread]);
      assert.equal((await said(next.thread)).length, 10);
      const anonymous = await ask([...messages.slice(4), user("six")]);
      assert.equal(anonymous.match, "new");
    });

    test("a thread by its name takes only what is new", async (t) => {
      const { ask, said } = await talk(t);
      const headers = { "x-palimpsest-thread": "support-42" };
      const first = await ask([user("one")], { headers });
      const second = await ask([user("two")], { headers });
      assert.deepEqual([first.match, second.match, second.thread], ["new", "extended", "support-42"]);
      assert.deepEqual(await said("support-42"), ["one", "answer 0", "two", "answer 1"]);
    });

    test("a second user's key finds nothing of the first one's, neither by its words nor by its name", async (t) => {
      const { ask, served } = await talk(t);
      const now = new Date();
      const [ada, bob] = await Promise.all(
        ["ada", "bob"].map(async (name) => {
          const { key } = await createKey(served.home.store.keys!, { user: name, role: "user", expiresAt: null }, now);
          return { authorization: `Bearer ${key}` };
        }),
      );
      const named = { "x-palimpsest-thread": "mine" };
      const first = await ask([user("one")], { headers: { ...ada!, ...named } });
      const messages = [user("one"), first.message, user("two")];
      const theirs = await ask(messages, { headers: bob! });
      assert.equal(theirs.match, "new");
      assert.equal((await ask([user("x")], { headers: { ...bob!, ...named } })).match, "new");
      assert.equal((await ask(messages, { headers: ada! })).thread, "mine");
      assert.equal((await served.home.store.forUser("bob").head("mine"))?.messages, 2);
      assert.equal((await ask(messages)).status, 401);
    });

    test("after a restart the next request is extended, and nothing is stored twice", async (t) => {
      const { ask, served, said } = await talk(t);
      const messages: Message[] = [];
      let last: Heard | null = null;
      for (let turn = 0; turn < 4; turn += 1) {
        messages.push(user(`turn ${turn}`));
        const { directory } = served.home;
        const home = await openHome({ home: directory, cwd: directory, env: { HOME: directory } });
        const gateway = createGateway({ home, ...PATIENT });
        const { url } = await gateway.listen({ port: 0 });
        last = await ask(messages, { url });
        await gateway.close();
        await home.close();
        assert.equal(last.match, turn === 0 ? "new" : "extended");
        messages.push(last.message);
      }
      assert.equal((await said(last!.thread)).length, 8);
    });

    test("a conversation goes on in a copy of its store", async (t) => {
      const { ask, served } = await talk(t);
      const { home } = served;
      const first = await ask([user("one")]);
      const second = await ask([user("one"), first.message, user("two")]);
      const path = join(home.directory, "copy.db");
      const copy = openSqlite({ path });
      await copyStore(home.store, copy);
      await copy.close();
      const { directory } = home;
      const copied = await openHome({ home: directory, cwd: directory, env: { HOME: directory }, store: path });
      const gateway = createGateway({ home: copied, ...PATIENT });
      t.after(async () => {
        await gateway.close();
        await copied.close();
      });
      const { url } = await gateway.listen({ port: 0 });
      const third = await ask([user("one"), first.message, user("two"), second.message, user("three")], { url });
      assert.deepEqual([third.match, third.thread], ["extended", first.thread]);
    });

    test("words that were erased are neither stored again nor sent on, though the client repeats them", async (t) => {
      const { ask, served, said } = await talk(t);
      const first = await ask([user("my secret is swordfish")]);
      const known = [user("my secret is swordfish"), first.message];
      const second = await ask([...known, user("two")]);
      await redact(served.home, first.thread!, 1);
      const third = await ask([...known, user("two"), second.message, user("three")]);
      assert.deepEqual([third.match, third.thread, third.view], ["extended", first.thread, "compacted"]);
      assert.doesNotMatch(JSON.stringify(served.provider.requests.at(-1)!.body), /swordfish/);
      assert.doesNotMatch(JSON.stringify(await said(first.thread)), /swordfish/);
    });
  });
}

async function asked(served: BeforeProvider, messages: readonly Message[], more: AskOptions): Promise<Heard> {
  const { headers = {}, body = {}, path = "/v1/chat/completions", url = served.url } = more;
  const isChat = path.endsWith("completions");
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers },
    body: JSON.stringify({ model: isChat ? "gpt" : "claude", messages, ...body }),
  });
  const answer = (await response.json()) as { choices?: { message: Message }[]; content?: unknown };
  const header = (name: string) => response.headers.get(`x-palimpsest-${name}`);
  return {
    status: response.status,
    match: header("match"),
    thread: header("thread"),
    view: header("view"),
    message: answer.choices?.[0]?.message ?? { role: "assistant", content: answer.content },
  };
}
