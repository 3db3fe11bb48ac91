/** Four stores for a browser to look at, filled over HTTP: an empty one, a usual one, a huge one, and one with hostile words. */
import { demoPrompts } from "../../packages/cli/src/demo/play.ts";
import { fill, made } from "./threads.ts";

export const STORES = ["empty", "normal", "huge", "hostile"] as const;
export type StoreName = (typeof STORES)[number];

/** For `config.yaml`: a small window, and nothing that is learned behind the answers. */
export const STORE_CONFIG = `models:
  - { name: offline, provider: offline, model: offline, max_input_tokens: 8000, pricing: { input: 3, output: 15 } }
summarization:
  { enabled: true, trigger: { type: fraction, value: 0.85 }, keep: { type: messages, value: 8 }, drafts: false }
gateway:
  { jobs: false }
`;

/** The thread to look at; in an empty store there is none. */
export const LOOKED_AT = "work";

export async function fillStore(url: string, store: StoreName): Promise<void> {
  if (store === "normal") await normal(url);
  if (store === "huge") await huge(url);
  if (store === "hostile") await hostile(url);
}

async function normal(url: string): Promise<void> {
  const { post } = made(url);
  await fill(url, "tides", 4, (index) => `High water number ${index} of the week`);
  await post("/api/threads", { id: "harbor", title: "Harbor notes" });
  await post("/api/threads", { id: LOOKED_AT, title: "Repairs at the lighthouse" });
  for (const prompt of demoPrompts(1).slice(0, -3)) await post(`/api/threads/${LOOKED_AT}/runs`, { prompt });
  await post(`/api/threads/${LOOKED_AT}/fork`, { at: 60 });
  await fill(url, "over", 200, (index) => `message ${index} ${"about the sea ".repeat(40)}`);
  await post(`/api/threads/${LOOKED_AT}/rules`, { text: "Never order parts without asking me first." });
  await post(`/api/threads/${LOOKED_AT}/rules`, { text: "Write measurements in millimetres." });
  const plan = "# Plan\n\n1. The **lamp** (#12)\n2. The gallery rail\n3. Paint before winter";
  await post(`/api/threads/${LOOKED_AT}/notes`, { name: "plan", text: plan, revision: 0 });
  for (const fact of FACTS) await post("/api/memory/facts", fact);
  await complete(url, [{ role: "user", content: "Which rivers flow into the sea here?" }]);
  await complete(url, [{ role: "user", content: "When is high water?" }]);
}

const FACTS = [
  { content: "Prefers short answers without headings", category: "preference", confidence: 0.95 },
  { content: "Drinks coffee with cardamom", category: "preference", confidence: 0.7 },
  { content: "Lives in Bergen and works at the lighthouse on Holmen", category: "context", confidence: 0.9 },
  { content: "Is repairing the lamp and the gallery rail before winter", category: "goal", confidence: 0.85 },
  { content: "Knows TypeScript and some Norwegian", category: "knowledge", confidence: 0.6 },
];

async function huge(url: string): Promise<void> {
  const { post } = made(url);
  for (let index = 0; index < 300; index += 1)
    await post("/api/threads", { id: `thread-${index}`, title: `Thread number ${index} of many about the harbor` });
  await fill(url, LOOKED_AT, 5_000, (index) => `message ${index} ${"about the sea and the weather ".repeat(12)}`);
  for (let index = 0; index < 20; index += 1)
    await post(`/api/threads/${LOOKED_AT}/rules`, { text: `Never do thing number ${index} without asking.` });
  for (let index = 0; index < 8; index += 1)
    await post(`/api/threads/${LOOKED_AT}/notes`, {
      name: `note-${index}`,
      text: `Line of note ${index}. `.repeat(40),
      revision: 0,
    });
  for (let index = 0; index < 100; index += 1)
    await post("/api/memory/facts", {
      content: `Fact number ${index}: ${index % 7 === 0 ? "a long one that says the same thing several times over, ".repeat(6) : "the tide turns"}`,
      category: ["preference", "knowledge", "context", "behavior", "goal"][index % 5],
      confidence: 0.5 + (index % 10) / 20,
    });
  for (let index = 0; index < 60; index += 1)
    await complete(url, [{ role: "user", content: `Question number ${index} of a client: when is high water?` }]);
}

const MARKUP = `<script>document.title='broken in'</script><img src=x onerror="document.title='broken in'">`;
const STRANGE = [
  MARKUP,
  "zero \u0000 escape \u001b[31m bell \u0007 turned \u202e txet \u2066 hidden",
  "مرحبا بالعالم שלום עולם",
  "unbroken".repeat(60),
  "漢字".repeat(80),
  "\ud83d\udc69\u200d\ud83d\udcbb e\u0301 \u{1F1E6}\u{1F1F9} [link](javascript:alert(1)) {{7*7}}",
];

async function hostile(url: string): Promise<void> {
  const { post } = made(url);
  for (const [index, title] of STRANGE.entries())
    await post("/api/threads", { id: `odd-${index}`, title: title.slice(0, 200) });
  await fill(
    url,
    LOOKED_AT,
    60,
    (index) => `We decided: never ${STRANGE[index % STRANGE.length]} ${"word ".repeat(40)}`,
  );
  await post(`/api/threads/${LOOKED_AT}/runs`, { prompt: STRANGE.join(" ") });
  for (const text of STRANGE) await post(`/api/threads/${LOOKED_AT}/rules`, { text: text.slice(0, 500) });
  for (const [index, text] of STRANGE.entries())
    await post(`/api/threads/${LOOKED_AT}/notes`, { name: `note-${index}-${"n".repeat(32)}`, text, revision: 0 });
  for (const content of STRANGE)
    await post("/api/memory/facts", {
      content: content.slice(0, 500),
      category: content.slice(0, 40),
      confidence: 0.5,
    });
  for (const content of STRANGE) await complete(url, [{ role: "user", content }]);
}

/** A client's request, as the view of requests lists it; that the offline model may refuse it is no matter. */
async function complete(url: string, messages: readonly object[]): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "offline", messages }),
  });
  await response.text();
}
