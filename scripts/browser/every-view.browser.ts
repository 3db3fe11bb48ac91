// Every view in both themes and at three widths, in an empty, a usual and a hostile store: nothing for axe, nothing too wide.
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, inspector } from "./inspected.ts";
import { PLACES, PLACES_WITHOUT_THREAD, visit } from "./places.ts";
import { fillStore, STORE_CONFIG } from "./stores.ts";

const inspect = inspector();
const LOOKS = [
  { colorScheme: "light", width: 400 },
  { colorScheme: "dark", width: 900 },
  { colorScheme: "light", width: 1600 },
  { colorScheme: "dark", width: 400 },
] as const;

for (const store of ["empty", "normal", "hostile"] as const)
  test(`every view of ${store === "empty" ? "an empty" : `a ${store}`} store has names, contrast and room, in both themes and at three widths`, async (t) => {
    await inspect(t, { config: STORE_CONFIG }, async ({ page, url }) => {
      await fillStore(url, store);
      for (const place of store === "empty" ? PLACES_WITHOUT_THREAD : PLACES) {
        await visit(page, place);
        for (const { colorScheme, width } of LOOKS) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 800 });
          const faults = await faultsOf(page);
          assert.deepEqual(faults, [], `${place.name}, ${colorScheme}, ${width} pixels`);
        }
        assert.doesNotMatch(await page.title(), /broken in/);
      }
    });
  });

test("Tab alone reaches every button, link, field and list of every view", async (t) => {
  await inspect(t, { config: STORE_CONFIG, width: 1600 }, async ({ page, url }) => {
    await fillStore(url, "normal");
    for (const place of PLACES.filter(({ name }) => name !== "palette")) {
      await visit(page, place);
      const wanted = await page.evaluate<readonly string[]>(NUMBER_CONTROLS);
      const reached = new Set<string>();
      for (let press = 0; press < wanted.length * 2 + 10 && reached.size < wanted.length; press += 1) {
        await page.keyboard.press("Tab");
        const at = await page.evaluate<string | null>("document.activeElement?.dataset.control ?? null");
        if (at !== null) reached.add(at);
      }
      const missed = wanted.filter((control) => !reached.has(control.split(" ")[0]!));
      assert.deepEqual(missed, [], place.name);
    }
  });
});

/** Runs in the page: gives each control that can be seen and used a number, and returns them with how they begin. */
const NUMBER_CONTROLS = `(() => {
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [role=listbox], [role=slider]")];
  const usable = all.filter((one) => one.checkVisibility() && !one.disabled && !one.matches("input[type=file]"));
  return usable.map((one, index) => {
    one.dataset.control = String(index);
    return index + " " + one.outerHTML.slice(0, 120);
  });
})()`;
