// The lab in a real browser: transcripts of one's own, played under several policies.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseFile, inspector } from "./inspected.ts";

const inspect = inspector();

/** Long enough for a small window to be exceeded. */
function session(turns: number): string {
  const filler = "The tide tables are in minutes. ".repeat(40);
  const lines = Array.from({ length: turns }, (_, index) => [
    JSON.stringify({ role: "user", content: `Look at src/part${index % 9}.ts again. ${filler}` }),
    JSON.stringify({ role: "assistant", content: `src/part${(index * 4) % 9}.ts holds ${index}. ${filler}` }),
  ]);
  return lines.flat().join("\n");
}

for (const [theme, width] of [
  ["light", 1000],
  ["dark", 1600],
  ["dark", 400],
] as const)
  test(`a transcript is played, with the table and plots of the lab's page, ${theme}, ${width} pixels`, async (t) => {
    await inspect(t, { theme, width }, async ({ page, picture, sound, expect }) => {
      await page.goto("/lab");
      await page.getByText("What would each policy have done?").waitFor();
      await sound();
      await picture("lab-empty");
      await page.getByRole("combobox", { name: "The model's window" }).selectOption("8000");
      await chooseFile(page, "Play files…", { name: "session.jsonl", text: session(40) });
      await page.getByRole("table").waitFor();
      await page.getByRole("img", { name: "Cost, by policy" }).waitFor();
      assert.ok((await page.getByRole("img", { name: /^Tokens of each request with/ }).count()) > 5);
      await picture("lab");
      await sound();
      await chooseFile(page, "Play files…", { name: "nothing.jsonl", text: "" });
      expect(/422/);
      await page.getByText(/there is nothing to play/).waitFor();
      await page.getByRole("button", { name: "session.jsonl" }).click();
      await page.getByRole("table").waitFor();
    });
  });
