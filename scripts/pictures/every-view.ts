/**
 * Pictures of every view, for people to look at: in an empty, a usual, a huge and a hostile store, light and dark, at three widths,
 * and the tree that a screen reader gets. `npm run every-view -- DIR [STORE ...]`. Ends with 1 if axe finds something.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway } from "@palimpsest/gateway";
import { openHome } from "palimpsest/home";
import type { Browser } from "playwright-core";
import { launchChromium } from "../browser/chromium.ts";
import { faultsOf } from "../browser/inspected.ts";
import { PLACES, PLACES_WITHOUT_THREAD, visit } from "../browser/places.ts";
import { fillStore, STORE_CONFIG, STORES, type StoreName } from "../browser/stores.ts";

const THEMES = ["light", "dark"] as const;
const WIDTHS = [400, 900, 1600] as const;

const [folder, ...args] = process.argv.slice(2);
if (folder === undefined) throw new Error("npm run every-view -- DIR [STORE ...] [--only PLACE,...]");
const only = args
  .find((arg) => arg.startsWith("--only="))
  ?.slice(7)
  .split(",");
const names = args.filter((arg) => !arg.startsWith("--"));
const launched = await launchChromium();
if (launched.kind === "cannot-run") throw new Error(`no picture was made: ${launched.reason}`);
try {
  for (const store of STORES.filter((name) => names.length === 0 || names.includes(name)))
    await withGateway(store, (url) => draw(launched.browser, url, store));
} finally {
  await launched.browser.close();
}

async function withGateway(store: StoreName, work: (url: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "palimpsest-views-"));
  try {
    writeFileSync(join(directory, "config.yaml"), STORE_CONFIG);
    const home = await openHome({ home: directory, cwd: directory, env: { HOME: directory } });
    const gateway = createGateway({ home, log: () => {} });
    try {
      const { url } = await gateway.listen({ port: 0 });
      await fillStore(url, store);
      await work(url);
    } finally {
      await gateway.close();
      await home.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function draw(browser: Browser, url: string, store: StoreName): Promise<void> {
  const into = join(folder!, store);
  mkdirSync(into, { recursive: true });
  for (const place of store === "empty" ? PLACES_WITHOUT_THREAD : PLACES) {
    if (only !== undefined && !only.includes(place.name)) continue;
    const page = await browser.newPage({ baseURL: url, reducedMotion: "reduce" });
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: width < 600 ? 800 : 900 });
        if (theme === "light" && width === WIDTHS[0]) await visit(page, place);
        else await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
        await page.screenshot({ path: join(into, `${place.name}-${theme}-${width}.png`) });
        for (const fault of await faultsOf(page)) report(`${store} ${place.name} ${theme} ${width}: ${fault}`);
      }
    }
    writeFileSync(join(into, `${place.name}.txt`), await page.locator("body").ariaSnapshot());
    await page.close();
  }
}

function report(fault: string): void {
  console.log(fault);
  process.exitCode = 1;
}
