// Rules and notes in a real browser: added, changed, ended, written by two at once, and hostile words in them.
import { test } from "node:test";
import { inspector } from "./inspected.ts";
import { talked } from "./threads.ts";

const inspect = inspector();
const HOSTILE = `<img src=x onerror="document.title='broken in'"> \u202eturned`;

for (const [theme, width] of [
  ["light", 1600],
  ["dark", 1000],
  ["light", 400],
] as const)
  test(`a rule is added, reworded, ended and put in force again; a note is written and deleted, ${theme}, ${width} pixels`, async (t) => {
    await inspect(t, { theme, width }, async ({ page, url, sound, picture }) => {
      const { post } = await talked(url, 1);
      await page.goto("/threads/garden/rules");
      await page.getByText("No rules yet").waitFor();
      await page.getByText("No notes yet").waitFor();
      await sound();
      await page.getByRole("textbox", { name: "A new rule" }).fill("Never push to main.");
      await page.keyboard.press("Enter");
      await page.getByText("Never push to main.", { exact: true }).waitFor();
      await page.getByRole("button", { name: /^Edit r1/ }).click();
      const words = page.locator('textarea[aria-label="Words of r1"]:focus');
      // What its button doesn't send, the keys don't send either.
      await words.fill(" ");
      await page.keyboard.press("Control+Enter");
      await words.fill("Never push to the main branch.");
      await page.keyboard.press("Control+Enter");
      await page.getByText("Never push to the main branch.").waitFor();
      await post("/api/threads/garden/rules", { text: HOSTILE });
      await page.getByText("<img src=x").waitFor();
      await page.getByRole("button", { name: "New note" }).click();
      await page.locator('input[aria-label="Name of the note"]:focus').fill("plan");
      await page.getByRole("textbox", { name: "Text of the note" }).fill(`1. the wall (#1)\n${HOSTILE}`);
      await page.keyboard.press("Control+Enter");
      await page.getByRole("article", { name: "Note plan" }).waitFor();
      await sound();
      await picture("rules");
      const rule = page.getByRole("listitem").filter({ hasText: "the main branch" });
      await rule.getByRole("button", { name: /^End/ }).click();
      await page.getByText(/^Ended: /).click();
      await rule
        .getByRole("button", { name: /^Put in force/ })
        .first()
        .click();
      await rule.getByRole("button", { name: /^End/ }).waitFor();
      await page.getByRole("button", { name: "Edit plan" }).click();
      await page.getByRole("button", { name: "Delete note" }).click();
      await page.getByText("No notes yet").waitFor();
    });
  });

test("a note that another writer changed meanwhile is not written over, and what was typed stays", async (t) => {
  await inspect(t, { width: 1000 }, async ({ page, url, sound, expect }) => {
    const { post } = await talked(url, 1);
    await post("/api/threads/garden/notes", { name: "plan", text: "one", revision: 0 });
    await page.goto("/threads/garden/rules");
    await page.getByRole("button", { name: "Edit plan" }).click();
    await page.getByRole("textbox", { name: "Text of the note" }).fill("mine");
    await post("/api/threads/garden/notes", { name: "plan", text: "theirs", revision: 1 });
    expect(/status of 409/);
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("alert")
      .getByText(/revision 2/)
      .waitFor();
    await page.getByRole("textbox", { name: "Text of the note" }).and(page.locator("textarea")).waitFor();
    await sound();
    expect(/status of 404/);
    await page.goto("/threads/never/rules");
    await page.getByText("There is no such thread").waitFor();
  });
});
