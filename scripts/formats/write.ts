/**
 * Writes the fixture of the formats from which compatibility starts: a home with everything that is kept (threads, folds,
 * rules, notes, redactions, forks, memory, keys), what was exported, and what the commands said of it. Run it once for a new
 * version of the formats, into a new folder; a folder that is there is never written again: `npm run formats -- NAME`.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Palimpsest, palimpsestIn, QUESTIONS } from "./command.ts";

const [name] = process.argv.slice(2);
if (name === undefined || !/^[a-z0-9.-]+$/.test(name)) throw new Error("name the version: npm run formats -- 0.1");
const target = fileURLToPath(new URL(`fixtures/${name}/`, import.meta.url));
if (existsSync(target)) throw new Error(`${target} is there. A written fixture stays as it is: take another name.`);

const made = mkdtempSync(join(tmpdir(), "palimpsest-formats-"));
try {
  const palimpsest = palimpsestIn(join(made, "home"));
  makeHome(palimpsest);
  const answers = QUESTIONS.map((words) => ({ words, answer: JSON.parse(palimpsest(...words, "--json")) as unknown }));
  writeFileSync(join(made, "answers.json"), `${JSON.stringify(answers, null, 2)}\n`);
  for (const as of ["jsonl", "markdown"] as const)
    palimpsest("export", "work", "--as", as, "--out", join(made, `work.${as === "jsonl" ? "jsonl" : "md"}`));
  mkdirSync(target, { recursive: true });
  cpSync(made, target, { recursive: true, filter: (path) => !/-(?:wal|shm)$|\.lock$|\.gitignore$/.test(path) });
} finally {
  rmSync(made, { recursive: true, force: true });
}

function makeHome(palimpsest: Palimpsest): void {
  writeFileSync(join(made, "session.jsonl"), session());
  palimpsest("import", join(made, "session.jsonl"), "--thread", "work");
  palimpsest("rules", "add", "work", "Never sail at night.");
  palimpsest("notes", "write", "work", "course", "Leave the harbor on the ebb.");
  palimpsest("pin", "work", "2");
  palimpsest("compact", "work", "--from", "5", "--until", "8");
  palimpsest("compact", "work", "--window", "2000");
  palimpsest("undo", "work");
  palimpsest("redo", "work");
  palimpsest("summary", "add", "work", "The pilot is called Ines.");
  palimpsest("hide", "work", "44");
  palimpsest("fork", "work", "--at", "12", "--as", "work-fork");
  palimpsest("redact", "work", "9");
  palimpsest("rules", "end", "work", firstRule(palimpsest));
  palimpsest("rules", "add", "work", "Always name the tide.");
  palimpsest("run", "What did we say about the lighthouse?", "--thread", "talk");
  palimpsest("run", "remember that I sail on Sundays", "--thread", "talk");
  palimpsest("memory", "add", "Owns a small boat.");
  palimpsest("memory", "add", "Lives near the lighthouse.");
  palimpsest("keys", "create", "--user", "ada", "--role", "user");
}

function firstRule(palimpsest: Palimpsest): string {
  const { rules } = JSON.parse(palimpsest("rules", "work", "--json")) as { rules: readonly { id: string }[] };
  return rules[0]!.id;
}

/** A conversation with tool calls, long enough for a compaction. */
function session(): string {
  const lines = Array.from({ length: 12 }, (_, index) => {
    const call = { id: `call-${index}`, type: "function", function: { name: "tide", arguments: `{"day":${index}}` } };
    return [
      {
        role: "user",
        content: `Day ${index}: when is high water at the lighthouse of Skagen, and may we pass the sand bank?`,
      },
      { role: "assistant", content: null, tool_calls: [call] },
      {
        role: "tool",
        tool_call_id: call.id,
        content: `{"day":${index},"high":"0${index % 10}:40","depth":${3 + (index % 4)}.2}`,
      },
      {
        role: "assistant",
        content: `High water is at 0${index % 10}:40. The depth over the bank is ${3 + (index % 4)}.2 m, so we may pass.`,
      },
    ];
  });
  return `${lines
    .flat()
    .map((message) => JSON.stringify(message))
    .join("\n")}\n`;
}
