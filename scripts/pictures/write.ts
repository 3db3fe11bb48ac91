/**
 * Makes the pictures of the page anew, `docs/inspector-*.png`: a real gateway, the demo's conversation with the offline model,
 * a real Chromium. The same conversation in the same window each time, token for token; some
 * pixels of edges may differ by a shade: `npm run pictures`.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createGateway } from "@palimpsest/gateway";
import { openHome } from "palimpsest/home";
import { demoPrompts } from "../../packages/cli/src/demo/play.ts";
import { launchChromium } from "../browser/chromium.ts";
import { fill, made } from "../browser/threads.ts";
import { PICTURES } from "./views.ts";

const CONFIG = `models:
  - { name: offline, provider: offline, model: offline, max_input_tokens: 8000, pricing: { input: 3, output: 15 } }
summarization:
  { enabled: true, trigger: { type: fraction, value: 0.85 }, keep: { type: messages, value: 8 }, drafts: false }
gateway:
  { jobs: false } # what memory learns behind the answers would be in one request or in the next
`;
const FORK_AT = 60;
const SIZE = { width: 1210, height: 700 };

const directory = mkdtempSync(join(tmpdir(), "palimpsest-pictures-"));
try {
  writeFileSync(join(directory, "config.yaml"), CONFIG);
  const home = await openHome({ home: directory, cwd: directory, env: { HOME: directory } });
  const gateway = createGateway({ home, log: () => {} });
  try {
    const { url } = await gateway.listen({ port: 0 });
    await tell(url);
    await draw(url);
  } finally {
    await gateway.close();
    await home.close();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** Three threads and a fork of one of them. */
async function tell(url: string): Promise<void> {
  const { post } = made(url);
  await fill(url, "tides", 4, (index) => `High water number ${index} of the week`);
  await post("/api/threads", { id: "harbor", title: "Harbor notes" });
  await post("/api/threads", { id: "lighthouse", title: "Repairs at the lighthouse" });
  for (const prompt of demoPrompts(1).slice(0, -3)) await post("/api/threads/lighthouse/runs", { prompt });
  await post("/api/threads/lighthouse/fork", { at: FORK_AT });
}

async function draw(url: string): Promise<void> {
  const launched = await launchChromium();
  if (launched.kind === "cannot-run") throw new Error(`no picture was made: ${launched.reason}`);
  const { browser } = launched;
  try {
    for (const { name, theme, show } of PICTURES) {
      const page = await browser.newPage({ baseURL: url, colorScheme: theme, viewport: SIZE, reducedMotion: "reduce" });
      await page.clock.setFixedTime(0); // everything is "just now", however long it took
      await show(page);
      const file = `docs/inspector-${name}.png`;
      await page.screenshot({ path: fileURLToPath(new URL(`../../${file}`, import.meta.url)) });
      console.log(file);
    }
  } finally {
    await browser.close();
  }
}
