/** Threads for a browser to look at, made over HTTP as any client makes them. */
interface Made {
  post(path: string, body: object): Promise<Readonly<Record<string, unknown>>>;
}

const TURNS = [
  "Plan a garden by the sea with me.",
  "By the way, I like coffee with cardamom.",
  "We decided for the north wall: stone, one metre high, since the wind comes from there.",
  "Salt kills the roses; list plants that stand it.",
  "What did we decide about the north wall?",
];

/** Some turns with the offline model, in a thread `garden`. */
export async function talked(url: string, turns = TURNS.length): Promise<Made> {
  const at = made(url);
  await at.post("/api/threads", { id: "garden", title: "A garden" });
  for (let turn = 0; turn < turns; turn += 1)
    await at.post("/api/threads/garden/runs", {
      prompt: `${TURNS[turn % TURNS.length]} ${"Salt and wind. ".repeat(30)}`,
    });
  return at;
}

export function made(url: string): Made {
  return {
    async post(path, body) {
      const response = await fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const answer = (await response.json()) as Record<string, unknown>;
      if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
      return answer;
    },
  };
}

/** Markup, scripts, control characters, text that runs the other way, and a picture that is none. */
export const STRANGE = [
  { role: "user", content: "<script>alert(1)</script><img src=x onerror=alert(1)>" },
  { role: "assistant", content: "\u0000\u001b[31m \u202eturned \u2066 around" },
  {
    role: "user",
    content: [
      { type: "text", text: "שלום עולם, مرحبا" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    ],
  },
  { role: "assistant", content: "line\n".repeat(50) },
]
  .map((message) => JSON.stringify(message))
  .join("\n");

/** A long thread in one import. */
export async function fill(
  url: string,
  id: string,
  count: number,
  text = (index: number) => `message ${index} about the sea`,
): Promise<void> {
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({ role: index % 2 === 0 ? "user" : "assistant", content: text(index) }),
  );
  const response = await fetch(`${url}/api/threads/${id}/import`, {
    method: "POST",
    headers: { "content-type": "application/jsonl" },
    body: lines.join("\n"),
  });
  if (!response.ok) throw new Error(await response.text());
}
