/**
 * The page as a person has it: a real gateway on a real store, a real browser before it. Whatever goes wrong unseen fails the
 * test: an error on the console, one that was not caught, a breach of the content security policy, what axe finds, a page
 * wider than its window. Everything is closed when the visit is over.
 */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, type TestContext } from "node:test";
import { type PostgresServer, startPostgres } from "@palimpsest/testing/internal/postgres-server";
import axe, { type AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { type Running, type RunningOptions, running } from "../../packages/gateway/test/running.ts";
import { launchChromium } from "./chromium.ts";

interface VisitOptions extends Omit<RunningOptions, "store"> {
  readonly store?: "sqlite" | "postgres";
  readonly theme?: "light" | "dark";
  readonly width?: number;
}

interface Visit extends Running {
  readonly page: Page;
  /** Another tab, watched as well. */
  tab(): Promise<Page>;
  /** What the console says, which this test causes on purpose. */
  expect(pattern: RegExp): void;
  /** Nothing for axe to find, nothing wider than the window. */
  sound(page?: Page): Promise<void>;
  /** Into the folder that PALIMPSEST_SCREENSHOTS names, where it is set. */
  picture(name: string): Promise<void>;
}

type Inspect = (t: TestContext, options: VisitOptions, visit: (visit: Visit) => Promise<void>) => Promise<void>;

/** One browser for the tests of a file, and one PostgreSQL, where a test needs it. */
export function inspector(): Inspect {
  let browser: Browser | null = null;
  let reason = "";
  let databases: Databases | null = null;
  before(async () => {
    const launched = await launchChromium();
    if (launched.kind === "running") browser = launched.browser;
    else reason = launched.reason;
  });
  after(async () => {
    await browser?.close();
    await databases?.stop();
  });
  return async (t, { store = "sqlite", theme = "light", width = 1000, ...options }, visit) => {
    if (browser === null) return t.skip(reason);
    if (store === "postgres") databases ??= await startDatabases();
    const at = await running(t, { ...options, ...(store === "postgres" && { store: await databases!.fresh() }) });
    const context = await browser.newContext({
      baseURL: at.url,
      colorScheme: theme,
      viewport: { width, height: width < 600 ? 800 : 900 },
      reducedMotion: "reduce",
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const watch = watchFor();
    const tab = async () => {
      const page = await context.newPage();
      await watch.add(page);
      return page;
    };
    try {
      const page = await tab();
      await visit({
        ...at,
        page,
        tab,
        expect: watch.expect,
        sound: (other = page) => sound(other),
        picture: (name) => picture(page, `${name}-${theme}-${width}`),
      });
      await sound(page);
      watch.assertNone();
    } finally {
      await context.close();
    }
  };
}

/** On a busy machine a page takes long; what never comes fails a little before the test's own limit, with what was waited for. */
const PATIENCE_MS = 180_000;

interface Databases {
  fresh(): Promise<string>;
  stop(): Promise<void>;
}

async function startDatabases(): Promise<Databases> {
  const server: PostgresServer = await startPostgres();
  const { Client } = await import("pg").then(({ default: pg }) => pg);
  let made = 0;
  return {
    async fresh() {
      const client = new Client({ connectionString: server.url() });
      await client.connect();
      made += 1;
      await client.query(`CREATE DATABASE visit${made}`);
      await client.end();
      return server.url(`visit${made}`);
    },
    stop: () => server.stop(),
  };
}

function watchFor() {
  const problems: string[] = [];
  const expected: RegExp[] = [];
  return {
    async add(page: Page): Promise<void> {
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning")
          problems.push(`console ${message.type()}: ${message.text()} (${message.location().url})`);
      });
      page.on("pageerror", (error) => problems.push(`not caught: ${error.stack ?? error.message}`));
      page.on("crash", () => problems.push("the page crashed"));
      await page.exposeBinding("reportBreach", (_, what: string) => void problems.push(`policy: ${what}`));
      await page.addInitScript(REPORT_BREACHES);
    },
    expect: (pattern: RegExp) => void expected.push(pattern),
    assertNone() {
      assert.deepEqual(
        problems.filter((problem) => !expected.some((pattern) => pattern.test(problem))),
        [],
      );
    },
  };
}

/** Runs in the page. */
const REPORT_BREACHES = `addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) => {
  reportBreach([violatedDirective, blockedURI, sample].join(" "));
});`;

/** Runs in the page: what stands out of the window, where the page or its view can be moved sideways. */
const WIDER = `(() => {
  const boxes = [document.documentElement, ...document.querySelectorAll("#view")];
  if (boxes.every(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)) return [];
  for (const box of boxes) box.scrollLeft = 0;
  const out = [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1);
  return ["the page is wider than its window", ...out.slice(0, 5).map((one) => one.outerHTML.slice(0, 160))];
})()`;

/** In the dialog that a button opens. */
export async function chooseFile(page: Page, button: string, ...files: readonly ChosenFile[]): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: button, exact: true }).click();
  await (await chooser).setFiles(files.map(({ name, text }) => ({ name, mimeType: "", buffer: Buffer.from(text) })));
}

interface ChosenFile {
  readonly name: string;
  readonly text: string | Uint8Array;
}

async function sound(page: Page): Promise<void> {
  assert.deepEqual(await faultsOf(page), []);
}

/** What axe finds, and what is wider than the window. */
export async function faultsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>("axe.run()");
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary ?? ""}`),
  );
  return [...found, ...(await page.evaluate<string[]>(WIDER))];
}

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["PALIMPSEST_SCREENSHOTS"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
