/** What each picture of the page shows, and how one gets there. */
import type { Page } from "playwright-core";

interface Picture {
  readonly name: string;
  readonly theme: "light" | "dark";
  show(page: Page): Promise<void>;
}

export const PICTURES: readonly Picture[] = [
  {
    name: "window",
    theme: "dark",
    async show(page) {
      await page.goto("/threads/lighthouse/window");
      await page.getByRole("img", { name: /^Before/ }).waitFor();
      const item = page.getByRole("button", { name: /^We decided for the/, expanded: false }).first();
      await item.click();
      const source = page.getByRole("region", { name: "Where that comes from" }).getByRole("article").first();
      await source.waitFor();
      await source.scrollIntoViewIfNeeded();
    },
  },
  {
    name: "timeline",
    theme: "light",
    async show(page) {
      await page.goto("/threads/lighthouse/timeline");
      await page.getByRole("slider", { name: "Request" }).focus();
      await page.keyboard.press("Home");
      await page.getByText("the first").waitFor();
      await page.keyboard.press("]");
      await page.getByText(/\d+ new, \d+ gone/).waitFor();
      await page.keyboard.press("m");
      await page.getByRole("slider", { name: "Request" }).focus();
      await page.keyboard.press("]");
      await page.getByText(/^From #\d+ to #\d+/).waitFor();
      await page.getByRole("list", { name: "Kinds" }).waitFor();
      await page
        .getByRole("option", { name: /− #\d+/ })
        .first()
        .waitFor();
      await page.getByRole("heading", { level: 1 }).click(); // away from the slider, whose frame would be shown
    },
  },
];
