/**
 * A coding session as an agent lives it, made up from a seed: requests, searches, reads, edits, failing and passing tests,
 * pauses of the user, and what a provider would have reported. One JSON line per message, the layout of recorded sessions.
 */
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import { createMeter } from "@palimpsest/core/internal/tokens";
import { exactCounter } from "../../packages/harness/src/models/tokenizers.ts";
import { type SeededRandom, seeded } from "../../packages/lab/src/eval/random.ts";
import { makeProject, type Project } from "./project.ts";

const MODEL = "claude-sonnet-4-5";
/** System prompt and tools, which sessions don't show. */
const FIXED = 4200;

export async function generatedSession(seed: number, tasks: number): Promise<string> {
  const random = seeded(seed);
  const project = makeProject(random);
  const messages = Array.from({ length: tasks }, (_, index) => task(project, random, index)).flat();
  const size = await reportedSize();
  let clock = Date.UTC(2026, 0, 5, 9);
  let input = FIXED;
  const lines = messages.map(({ message, pause }) => {
    clock += pause * 1000;
    const tokens = size(message, random);
    const usage = message.role === "assistant" ? { input: Math.round(input), output: Math.round(tokens) } : undefined;
    input += tokens;
    return JSON.stringify({ at: new Date(clock).toISOString(), segment: 1, message, usage, model: MODEL });
  });
  return `${lines.join("\n")}\n`;
}

interface Timed {
  readonly message: OpenAiMessage;
  /** Seconds since the message before. */
  readonly pause: number;
}

/** A tokenizer that isn't ours: a fifth more tokens than o200k, a frame per message, and a little noise. */
async function reportedSize(): Promise<(message: OpenAiMessage, random: SeededRandom) => number> {
  const frame = { message: 0, call: 0, argument: 0, result: 0, inputs: "json" } as const;
  const meter = createMeter<OpenAiMessage>(openaiShape, { counter: await exactCounter("o200k_base"), frame });
  return (message, random) => meter.message(message) * (1.18 + random.next() * 0.04) + 7;
}

function task(project: Project, random: SeededRandom, index: number): Timed[] {
  const path = random.pick(project.paths);
  const name = project.name();
  const done: Timed[] = [
    say("user", `${random.pick(ASKS)} ${name} in ${path}; ticket ${1000 + index}.`, random.pick([40, 90, 200, 900])),
  ];
  const act = (tool: string, input: object, result: string): void => {
    const id = `call_${index}_${done.length}`;
    const call = { id, type: "function" as const, function: { name: tool, arguments: JSON.stringify(input) } };
    const content = random.next() < 0.4 ? `${random.pick(THOUGHTS)} ${name}.` : null;
    done.push(
      { message: { role: "assistant", content, tool_calls: [call] }, pause: random.between(4, 20) },
      { message: { role: "tool", tool_call_id: id, content: result }, pause: random.between(1, 4) },
    );
  };
  act("bash", { command: `grep -rn ${name} src` }, project.grep(name));
  for (const other of [path, ...Array.from({ length: random.between(1, 3) }, () => random.pick(project.paths))]) {
    act("read_file", { path: other }, project.read(other));
  }
  for (let round = random.between(1, 3); round > 0; round -= 1) {
    const { old, new: changed } = project.edit(path);
    act("edit_file", { path, old_string: old, new_string: changed }, `Edited ${path}.`);
    act("bash", { command: `npm test -- ${path}` }, project.test(round === 1 ? "passes" : "fails", path));
    if (round > 1) act("read_file", { path }, project.read(path));
  }
  // What was seen long ago is used again.
  const earlier = project.name();
  act("bash", { command: `grep -n ${earlier} ${path}` }, project.grep(earlier));
  done.push(say("assistant", `${path} now keeps the limit of ${name}; ${earlier} is as it was. Tests pass.`, 6));
  return done;
}

const ASKS = ["Fix the limit of", "Please raise the rate in", "The total is wrong; look at", "Find who calls"];
const THOUGHTS = ["Let me look at", "Next I check", "This touches", "I want to see every use of"];

function say(role: "user" | "assistant", content: string, pause: number): Timed {
  return { message: { role, content }, pause };
}
