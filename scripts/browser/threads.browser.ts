// The threads in a real browser: as a tree, found, imported, deleted, live, and behind a key.
import assert from "node:assert/strict";
import { test } from "node:test";
import { zip } from "../../packages/gateway/test/zip.ts";
import { createKey } from "../../packages/harness/src/operations/keys.ts";
import { chooseFile, inspector } from "./inspected.ts";
import { fill, STRANGE, talked } from "./threads.ts";

const inspect = inspector();

for (const [store, theme, width] of [
  ["sqlite", "light", 1600],
  ["postgres", "dark", 1000],
  ["sqlite", "dark", 400],
] as const)
  test(`threads are a tree that follows what others do, on ${store}, ${theme}, ${width} pixels`, async (t) => {
    await inspect(t, { store, theme, width }, async ({ page, url, sound, picture }) => {
      await page.goto("/");
      await page.getByText("No threads yet").waitFor();
      await sound();
      const at = await talked(url);
      await page.getByRole("option", { name: "A garden" }).waitFor();
      await at.post("/api/threads/garden/fork", { at: 2, as: "again" });
      await page.getByRole("option", { name: "fork at #2" }).waitFor();
      await picture("threads");
      await page.getByRole("searchbox").fill("cardamom");
      await page
        .getByRole("link", { name: /cardamom/ })
        .first()
        .waitFor();
      await picture("search");
      await page.getByRole("searchbox").fill("");
      await page.getByRole("option", { name: "fork at #2" }).click();
      await page.getByRole("button", { name: "Delete…" }).click();
      await page.getByRole("button", { name: "Delete for good" }).click();
      await page.getByRole("option", { name: "fork at #2" }).waitFor({ state: "detached" });
    });
  });

test("a file that is dropped or chosen becomes a thread, and one that is none is told of beside it", async (t) => {
  await inspect(t, { width: 1000 }, async ({ page, expect }) => {
    await page.goto("/threads");
    await page.getByText("No threads yet").waitFor();
    expect(/status of (?:400|422)/);
    await chooseFile(page, "Import…", { name: "broken.json", text: "{no" });
    await page.getByRole("alert").waitFor();
    await chooseFile(page, "Import…", { name: "My notes.jsonl", text: STRANGE });
    await page.waitForURL(/\/threads\/My-notes\/window/);
    await page.getByRole("option", { name: /<script>/ }).waitFor();
  });
});

test("a zip archive that is dropped becomes threads, and in the lab its files are played", async (t) => {
  await inspect(t, { width: 1000 }, async ({ page }) => {
    const said = (text: string) => JSON.stringify([{ role: "user", content: text }]);
    const bytes = zip({ "a/tides.json": said("When is high water?"), "buoys.json": said("Which buoy is lit?") });
    const drop = async () => {
      const script = `const all = new DataTransfer(); all.items.add(new File([new Uint8Array([${[...bytes]}])], "log.zip")); all`;
      const dataTransfer = await page.evaluateHandle(script);
      await page.getByRole("heading", { level: 1 }).dispatchEvent("drop", { dataTransfer });
    };
    await page.goto("/threads");
    await page.getByText("No threads yet").waitFor();
    await drop();
    await page.getByRole("option", { name: /high water/ }).waitFor();
    await page.getByRole("option", { name: /buoy is lit/ }).waitFor();
    await page.goto("/lab");
    await page.getByText("What would each policy have done?").waitFor();
    await drop();
    await page.getByText("2 transcripts, 2 messages").waitFor();
  });
});

test("where there are keys one is asked for once, and what it opens closes with it", async (t) => {
  await inspect(t, { width: 1000 }, async ({ page, url, home, expect, sound }) => {
    await talked(url, 1);
    const former = await createKey(home.store.keys!, { user: "default", role: "user", expiresAt: null }, new Date());
    const made = await createKey(home.store.keys!, { user: "ada", role: "user", expiresAt: null }, new Date());
    expect(/status of 401/);
    await page.goto("/threads");
    await sound();
    await page.getByText(/before there were keys belong to the user default/).waitFor();
    assert.equal(await page.getByRole("navigation").count(), 0);
    await page.getByLabel(/twelve hours/).fill("pal_wrong");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel(/twelve hours/).fill(made.key);
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("No threads yet").waitFor();
    const stored = await page.evaluate<string>(
      "JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie + location.href",
    );
    assert.doesNotMatch(stored, /pal_/);
    await home.store.keys!.revoke(made.id, new Date().toISOString());
    await page.goto("/memory");
    await page.getByLabel(/twelve hours/).fill(former.key);
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("link", { name: "Threads" }).click();
    await page.getByRole("option", { name: "A garden" }).waitFor();
  });
});

test("a page that was signed out shows nothing of its user, and follows the threads of who signs in next", async (t) => {
  await inspect(t, { width: 1000 }, async ({ page, url, home, expect }) => {
    expect(/status of 401/);
    const [ada, bob] = await Promise.all(
      ["ada", "bob"].map(async (user) => {
        const { key } = await createKey(home.store.keys!, { user, role: "user", expiresAt: null }, new Date());
        const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
        const make = (id: string) =>
          fetch(`${url}/api/threads`, { method: "POST", headers, body: JSON.stringify({ id }) });
        return { key, make };
      }),
    );
    const signIn = async (key: string) => {
      await page.getByLabel(/twelve hours/).fill(key);
      await page.getByRole("button", { name: "Open" }).click();
    };
    const row = (id: string) => page.getByRole("option", { name: id });
    await ada!.make("of-ada");
    await bob!.make("of-bob");
    await page.goto("/threads");
    await signIn(ada!.key);
    await row("of-ada").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    const list = Promise.withResolvers<void>();
    await page.route(/\/api\/threads\?/, async (route) => {
      await list.promise;
      await route.continue();
    });
    await signIn(bob!.key);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    assert.equal(await row("of-ada").count(), 0);
    list.resolve();
    await row("of-bob").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await signIn(bob!.key);
    await row("of-bob").waitFor();
    await bob!.make("later");
    await row("later").waitFor();
  });
});

test("hits with every word of the question stand before those with some of them", async (t) => {
  await inspect(t, { width: 400 }, async ({ page, url, sound, picture }) => {
    await fill(url, "sea", 30, (index) =>
      index === 7 ? "the lamp of the lighthouse is green" : `lamp ${index} is lit`,
    );
    await page.goto("/threads?find=lighthouse+lamp");
    const hits = page.getByRole("list", { name: "Hits" }).getByRole("listitem");
    await hits.filter({ hasText: "With only some of the words:" }).filter({ hasText: "is lit" }).waitFor();
    await hits
      .nth(2)
      .getByText(/is green/)
      .waitFor();
    await sound();
    await picture("search-partial");
  });
});

test("an address that the page doesn't have is answered with the page", async (t) => {
  await inspect(t, { width: 400 }, async ({ page, expect }) => {
    expect(/status of 404/);
    await page.goto("/kitchen/sink");
    await page.getByRole("heading", { name: "Nothing is at this address" }).waitFor();
  });
});

test("a store that goes away while one looks is told of, and the page goes on when it is back", async (t) => {
  await inspect(t, { width: 1000 }, async ({ page, url, expect }) => {
    await talked(url);
    await page.goto("/threads");
    await page.getByRole("option", { name: "A garden" }).waitFor();
    expect(/ERR_|Failed to load/);
    await page.context().setOffline(true);
    await page.getByRole("option", { name: "A garden" }).click();
    await page.getByRole("option", { name: "A garden" }).dblclick();
    await page.getByText("can't be reached").first().waitFor();
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Try again" }).first().click();
    await page.getByRole("option").first().waitFor();
  });
});

test("the list says how full each thread is, filters by name and id, renames and exports", async (t) => {
  const config = "models: [{name: offline, provider: offline, model: offline, max_input_tokens: 8000}]\n";
  await inspect(t, { width: 1600, config }, async ({ page, url, sound, picture }) => {
    await talked(url, 3);
    await fill(url, "over", 200, (index) => `message ${index} ${"about the sea ".repeat(40)}`);
    await page.goto("/threads");
    await page.getByRole("option", { name: /message 0.*(?:\d{3} %|× the window)/ }).waitFor();
    await page.getByRole("option", { name: /A garden.*\d+ %.*offline/ }).waitFor();
    await page.getByRole("textbox", { name: "Filter" }).fill("gard");
    await page.getByRole("option", { name: /message 0/ }).waitFor({ state: "detached" });
    await page.getByRole("textbox", { name: "Filter" }).fill("nothing like it");
    await page.getByText("No thread is called that").waitFor();
    await sound();
    await page.getByRole("textbox", { name: "Filter" }).fill("");
    await page.getByRole("option", { name: /A garden/ }).click();
    await picture("threads-chosen");
    await page.getByRole("button", { name: "Rename…" }).click();
    await page.getByLabel(/A name for/).fill("<b>By the sea</b>");
    await sound();
    await page.getByRole("button", { name: "Rename", exact: true }).click();
    await page.getByRole("option", { name: "<b>By the sea</b>" }).waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export" }).click();
    assert.equal((await download).suggestedFilename(), "garden.jsonl");
  });
});

for (const [theme, width] of [
  ["light", 1600],
  ["dark", 1000],
  ["light", 400],
] as const)
  test(`an empty store offers an example with a curve to look at, ${theme}, ${width} pixels`, async (t) => {
    await inspect(t, { theme, width }, async ({ page, sound, picture, expect }) => {
      await page.goto("/threads");
      await page.getByText("No threads yet").waitFor();
      await sound();
      await picture("empty");
      await page.getByRole("button", { name: "Look at an example" }).click();
      await page.waitForURL(/\/threads\/example\/timeline/);
      await page.getByText("16 requests").waitFor();
      await page.getByRole("list", { name: "Kinds" }).waitFor();
      await sound();
      await picture("example");
      expect(/status of 404/);
      await page.getByText("The exact request, as JSON").click();
      await page.getByText("There is none: this answer was imported").waitFor();
      assert.equal(await page.getByRole("alert").count(), 0);
      // The bar is that of the model that answered: most of 200,000 is free.
      await page.getByRole("img", { name: /^At #.* free 18\d,\d{3}/ }).waitFor();
      await page.goto("/threads/example/map");
      await page
        .getByText(/taken off after tax/)
        .first()
        .waitFor();
      assert.equal(await page.getByText("**").count(), 0);
      await page.goto("/threads/example/chat");
      await page.getByText("The checkout fails for some customers").first().waitFor();
      await page.getByText("It stands in").first().waitFor();
      await picture("example-chat");
      if ((await page.getByRole("button", { name: "Show earlier" }).count()) > 0)
        throw new Error("there is nothing earlier");
    });
  });

for (const [theme, width] of [
  ["dark", 1600],
  ["light", 400],
] as const)
  test(`a search says why it found nothing, which words stand nowhere, and how many it found where, ${theme}, ${width} pixels`, async (t) => {
    await inspect(t, { theme, width }, async ({ page, url, sound, picture }) => {
      await talked(url, 3);
      await page.goto("/threads/garden/window");
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.keyboard.type("/roses xylophone", { delay: 5 });
      await page
        .getByText(/^\d+ hits? in 1 thread/)
        .or(page.getByText("Nothing was said about that"))
        .waitFor();
      await page.getByRole("searchbox").fill("coffee xylophone");
      await page.getByText("No message has “xylophone”").waitFor();
      await page.getByText(/^\d+ hits? in 1 thread/).waitFor();
      await page.getByRole("combobox", { name: "Speaker" }).selectOption({ index: 1 });
      await page.getByRole("combobox", { name: "Time" }).selectOption("1");
      await sound();
      await picture("search");
      await page.getByRole("searchbox").fill("zyzzyva");
      await page.getByText(/No message.* contains any of these words/).waitFor();
      await page.getByRole("searchbox").fill("<img src=x onerror=alert(1)>");
      await page.getByRole("searchbox").fill("the of and");
      await page.getByText(/too common|any of these words/).waitFor();
      await sound();
      await picture("search-nothing");
    });
  });
