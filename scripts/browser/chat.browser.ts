// The chat in a real browser: what a person does there, with a provider that says what the test tells it to.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { upstream } from "../../packages/gateway/test/upstream.ts";
import { chooseFile, inspector } from "./inspected.ts";

const inspect = inspector();

const say = async (page: Page, text: string) => {
  await page.getByRole("textbox", { name: "Message", exact: true }).fill(text);
  await page.keyboard.press("Enter");
};

for (const [store, theme, width] of [
  ["sqlite", "light", 400],
  ["postgres", "dark", 1000],
  ["sqlite", "light", 1600],
] as const)
  test(`a message is asked, its answer streams in with the window in sight, on ${store}, ${theme}, ${width} pixels`, async (t) => {
    const provider = await upstream(t);
    await inspect(t, { config: provider.config, store, theme, width }, async ({ page, picture, sound }) => {
      await page.goto("/chat");
      await page.getByText("A new conversation").waitFor();
      await sound();
      await say(page, "Which river runs through Vienna?");
      const asked = await provider.next();
      asked.say("The ");
      await page.getByText("The", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Stop" }).waitFor();
      await sound();
      asked.say("Danube.\n\n```ts\nconst river = 'Danube';\n```\n\nIt is `2,850 km` long.");
      asked.end();
      await page.getByRole("button", { name: "Answer again" }).waitFor();
      await page.getByRole("img", { name: /of 100,000 tokens/ }).waitFor();
      assert.match(
        await page.locator(".said-assistant").innerText(),
        /The Danube\.\s+ts\s+(?:Copy\s+)?const river = 'Danube';/,
      );
      await picture("chat");
      await page.reload();
      await page.locator(".said-user").getByText("Which river runs through Vienna?").waitFor();
    });
  });

test("a tool's input and output are folded, a sub-agent is a card within its call, and an answer is stopped", async (t) => {
  const provider = await upstream(t);
  await inspect(t, { config: provider.config, width: 1600 }, async ({ page, picture, sound }) => {
    await page.goto("/chat");
    await say(page, "Look around.");
    const first = await provider.next();
    // Until the answer has ended, the thread has no title.
    await page.getByRole("complementary", { name: "Threads" }).getByText("Look around.").waitFor();
    first.say("I look at the files.");
    first.call("ls", { path: "/mnt/user-data/workspace" });
    first.end();
    const second = await provider.next();
    second.call("task", { description: "Count the rivers", prompt: "Count them.", subagent_type: "general-purpose" });
    second.end();
    const child = await provider.next();
    child.say("I count the rivers: seven.");
    const card = page.getByRole("region", { name: "Sub-agent general-purpose" });
    await card.getByText("I count the rivers").waitFor();
    await picture("chat-sub-agent");
    child.end();
    const third = await provider.next();
    await card.getByText("completed").waitFor();
    third.say("Seven rivers, and more");
    await page.getByText("Seven rivers, and more").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await third.closed;
    await page.getByRole("button", { name: "Send" }).waitFor();
    await page.getByText("aborted").waitFor();
    await page.locator("summary").filter({ hasText: "ls" }).click();
    await page.getByRole("group", { name: "Output" }).getByText("workspace is empty").waitFor();
    await sound();
    await card.getByRole("link", { name: /Open the thread/ }).click();
    await page.getByText("I count the rivers: seven.").waitFor();
  });
});

test("a call waits for the person: denied with a reason the model reads, then approved", async (t) => {
  const provider = await upstream(t);
  const config = `${provider.config}\napproval: { tools: [write_file] }\n`;
  await inspect(t, { config, theme: "dark" }, async ({ page, picture, sound }) => {
    const ask = async (text: string) => {
      await say(page, text);
      const asked = await provider.next();
      asked.call("write_file", { path: "/mnt/user-data/workspace/a.md", content: text, description: "w" });
      asked.end();
      await page.getByText("waits for you").waitFor();
    };
    await page.goto("/chat");
    await ask("Write it.");
    await sound();
    await picture("chat-approval");
    await page.reload();
    await page.getByRole("textbox", { name: /Why it is denied/ }).fill("Not that file");
    await page.getByRole("button", { name: "Deny write_file" }).click();
    const refused = await provider.next();
    assert.match(JSON.stringify(refused.messages), /Not that file/);
    refused.say("I see.");
    refused.end();
    await page.getByText("I see.").waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
    await ask("Write it still.");
    await page.getByRole("button", { name: "Approve write_file" }).click();
    const allowed = await provider.next();
    allowed.say("Written.");
    allowed.end();
    await page.getByText("Written.").waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
  });
});

test("a message is edited and an answer asked for again, each in a fork: the thread stays as it was", async (t) => {
  const provider = await upstream(t);
  const answer = async (text: string) => {
    const asked = await provider.next();
    asked.say(text);
    asked.end();
    return asked;
  };
  await inspect(t, { config: provider.config }, async ({ page, url }) => {
    await page.goto("/chat");
    await say(page, "First question");
    await answer("First answer");
    await page.getByRole("button", { name: "Answer again" }).waitFor();
    const original = page.url();
    await page.getByRole("button", { name: "Answer again" }).click();
    await answer("Another answer");
    await page.getByText("Another answer").waitFor();
    assert.notEqual(page.url(), original);
    await page.getByRole("button", { name: "Answer again" }).waitFor();
    await page.getByRole("button", { name: /^Edit #/ }).click();
    await page.getByRole("textbox", { name: "Your message, edited" }).fill("Better question");
    await page.locator(".edit-form").getByRole("button", { name: "Send" }).click();
    const asked = await answer("Better answer");
    assert.doesNotMatch(JSON.stringify(asked.messages), /First question/);
    await page.getByText("Better answer").waitFor();
    await page.getByRole("button", { name: "Answer again" }).waitFor();
    const { threads } = (await (await fetch(`${url}/api/threads`)).json()) as { threads: unknown[] };
    assert.equal(threads.length, 3);
    await page.goto(original);
    await page.getByText("First answer").waitFor();
    assert.equal(await page.getByText("Better").count(), 0);
  });
});

test("a compaction is told as it happens, leads to the window, and is taken back with a click", async (t) => {
  const config = "models: [{ name: small, provider: offline, model: offline, max_input_tokens: 4500 }]\n";
  await inspect(t, { config, width: 1600 }, async ({ page, picture, sound }) => {
    await page.goto("/chat");
    const compacted = page.locator(".act-compaction");
    for (let turn = 1; (await compacted.count()) === 0 && turn < 20; turn += 1) {
      await say(page, `Note ${turn}: ${"the tide table is kept in minutes, never in floats. ".repeat(12)}`);
      await page.getByRole("button", { name: "Send" }).waitFor();
    }
    await compacted
      .first()
      .getByText(/Compacted #\d+ to #\d+/)
      .waitFor();
    await sound();
    await picture("chat-compaction");
    const undo = compacted.getByRole("button", { name: /^Undo/ });
    await undo.last().click();
    await page.getByText(/Took back #/).waitFor();
  });
});

test("files are brought in with the next message; one that is refused says so beside the line", async (t) => {
  const provider = await upstream(t);
  await inspect(t, { config: provider.config, theme: "dark", width: 400 }, async ({ page, expect }) => {
    await page.goto("/chat");
    await chooseFile(page, "Upload…", { name: "notes.txt", text: "Herons wade." });
    await page.getByRole("list", { name: "Files with your next message" }).getByText("notes.txt").waitFor();
    expect(/400/);
    await chooseFile(page, "Upload…", { name: "con", text: "device" });
    await page.getByText("bad-name").waitFor();
    await say(page, "What is in it?");
    const asked = await provider.next();
    assert.match(JSON.stringify(asked.messages), /What is in it\?.*Uploaded: \/mnt\/user-data\/uploads\/notes.txt/);
    asked.say("Herons.");
    asked.end();
    await page.getByText("Herons.", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
  });
});

test("a provider that fails is told in its own words on the person's machine, tried again with a click, and the next message goes on", async (t) => {
  const provider = await upstream(t);
  await inspect(t, { config: provider.config }, async ({ page }) => {
    await page.goto("/chat");
    await say(page, "Hello?");
    (await provider.next()).refuse(400, "no such model");
    await page.getByRole("alert").getByText("no such model").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    const again = await provider.next();
    again.say("Here I am.");
    again.end();
    await page.getByText("Here I am.", { exact: true }).waitFor();
    await page.getByRole("alert").waitFor({ state: "detached" });
    assert.equal(await page.locator(".said-user").count(), 1);
    await page.getByRole("button", { name: "Send" }).waitFor();
    await say(page, "Again?");
    const asked = await provider.next();
    asked.say("Yes.");
    asked.end();
    await page.getByText("Yes.", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
  });
});

test("what another tab says in the same thread appears here, as it comes", async (t) => {
  const provider = await upstream(t);
  await inspect(t, { config: provider.config, width: 1600 }, async ({ page, tab, sound }) => {
    await page.goto("/chat");
    await say(page, "Hello?");
    const first = await provider.next();
    first.say("Hello!");
    first.end();
    await page.getByRole("button", { name: "Answer again" }).waitFor();
    const other = await tab();
    await other.goto(page.url());
    await other.getByText("Hello!").waitFor();
    await say(other, "And here?");
    const second = await provider.next();
    second.say("Here too");
    await page.getByText("Here too").waitFor();
    await page.getByRole("button", { name: "Stop" }).waitFor();
    second.say(", as well.");
    second.end();
    await page.getByText("Here too, as well.").waitFor();
    await sound(other);
  });
});
