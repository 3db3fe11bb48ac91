// Another program that writes a session of Claude Code, for tests that kill it: each line in two halves.
import { appendFileSync, existsSync, readFileSync } from "node:fs";

const [path = "", delay = "2"] = process.argv.slice(2);
const before = existsSync(path) ? readFileSync(path, "utf8") : "";
// A line that a kill has cut off is ended, as it never will be.
if (before !== "" && !before.endsWith("\n")) appendFileSync(path, "\n");
let parent: string | null = null;
let count = 0;
let isTold = false;
for (const line of before.split("\n")) {
  try {
    parent = JSON.parse(line).uuid;
    count += 1;
  } catch {
    // Cut off.
  }
}
for (;;) {
  const uuid = `u${count}`;
  const type = count % 2 === 0 ? "user" : "assistant";
  const message = { role: type, content: `message ${count} ${"x".repeat(count % 500)}` };
  const line = `${JSON.stringify({ uuid, parentUuid: parent, sessionId: "s", cwd: "/w", type, message })}\n`;
  const half = Math.floor(line.length / 2);
  appendFileSync(path, line.slice(0, half));
  appendFileSync(path, line.slice(half));
  if (!isTold) process.stdout.write("writing\n");
  isTold = true;
  parent = uuid;
  count += 1;
  await new Promise((resolve) => setTimeout(resolve, Number(delay)));
}
