/**
 * What a reader of a page with `console` blocks has already: the threads and files that its commands name. What a page
 * makes itself doesn't belong here.
 */
export interface Reader {
  readonly threads?: readonly string[];
  readonly files?: readonly (keyof typeof FILES)[];
}

export const READERS: Readonly<Record<string, Reader>> = {
  "docs/backups.md": { threads: ["work"] },
  "docs/choosing-thresholds.md": { threads: ["work"], files: ["session.jsonl", "a.yaml", "b.yaml"] },
  "docs/cli.md": { files: ["session.jsonl"] },
  "docs/compaction.md": { threads: ["work"] },
  "docs/data.md": { threads: ["rivers"] },
  "docs/evaluating.md": { threads: ["notes"], files: ["session.jsonl", "locomo.json", "gate.json"] },
  "docs/gateway.md": { files: ["session.jsonl", "plan.md"] },
  "docs/importing.md": {
    files: ["backup/sessions/pi.jsonl", ".claude/projects/mill/s.jsonl", ".codex/sessions/s.jsonl"],
  },
  "docs/inspector.md": { threads: ["notes"] },
  "docs/lab.md": {
    files: [
      "session.jsonl",
      "dialogs.jsonl",
      "early.yaml",
      "late.yaml",
      "backup/sessions/pi.jsonl",
      ".claude/projects/mill/s.jsonl",
    ],
  },
  "docs/recall.md": { threads: ["work"] },
  "docs/rules.md": { threads: ["work"] },
  "docs/what-it-costs.md": { threads: ["rivers"], files: ["session.jsonl"] },
};

const session = Array.from({ length: 40 }, (_, turn) => [
  { role: "user", content: `Turn ${turn}: what did we decide about the stack, and why the stack of part ${turn}?` },
  { role: "assistant", content: `Part ${turn} uses PostgreSQL, because ${"the team knows it well. ".repeat(8)}` },
]).flat();
const SESSION = session.map((message) => `${JSON.stringify(message)}\n`).join("");
const pi = [
  {
    type: "session",
    version: 3,
    id: "3f1c7c1e-0000-4000-8000-000000000001",
    timestamp: "2026-01-05T10:00:00.000Z",
    cwd: "/",
  },
  entry("a", null, { role: "user", content: "Where is the mill?", timestamp: 1767607200000 }),
  entry("b", "a", { role: "assistant", content: [{ type: "text", text: "By the river." }], timestamp: 1767607201000 }),
];

function entry(id: string, parentId: string | null, message: object) {
  return { type: "message", id, parentId, timestamp: "2026-01-05T10:00:00.000Z", message };
}

function claude(uuid: string, parentUuid: string | null, message: { role: string; content: unknown }): string {
  const session = {
    sessionId: "3f1c7c1e-0000-4000-8000-000000000003",
    cwd: "/",
    timestamp: "2026-01-05T10:00:00.000Z",
  };
  return `${JSON.stringify({ ...session, type: message.role, uuid, parentUuid, message })}\n`;
}

function codex(type: string, payload: object): string {
  return `${JSON.stringify({ timestamp: "2026-01-05T10:00:00.000Z", type, payload })}\n`;
}

export const FILES = {
  "session.jsonl": SESSION,
  "dialogs.jsonl": SESSION,
  "locomo.json": JSON.stringify([
    {
      sample_id: "c1",
      conversation: {
        speaker_a: "Ada",
        speaker_b: "Bob",
        session_1_date_time: "1:56 pm on 8 May, 2023",
        session_1: [
          { speaker: "Ada", dia_id: "D1:1", text: "I adopted a dog called Rex in Oslo." },
          { speaker: "Bob", dia_id: "D1:2", text: "Lovely! I am painting the boat." },
        ],
      },
      qa: [{ question: "Where did Ada adopt Rex?", answer: "Oslo", evidence: ["D1:1"], category: 4 }],
    },
  ]),
  "gate.json": JSON.stringify({ "session.jsonl cost": { max: 1000 } }),
  "a.yaml": "trigger: { type: fraction, value: 0.6 }\n",
  "b.yaml": "trigger: { type: fraction, value: 0.9 }\n",
  "early.yaml": "trigger: { type: fraction, value: 0.6 }\n",
  "late.yaml": "trigger: { type: fraction, value: 0.9 }\n",
  "backup/sessions/pi.jsonl": pi.map((line) => `${JSON.stringify(line)}\n`).join(""),
  ".claude/projects/mill/s.jsonl": [
    claude("u1", null, { role: "user", content: "Where is the mill?" }),
    claude("a1", "u1", { role: "assistant", content: [{ type: "text", text: "By the river." }] }),
  ].join(""),
  ".codex/sessions/s.jsonl": [
    codex("session_meta", {
      id: "3f1c7c1e-0000-4000-8000-000000000002",
      cwd: "/",
      originator: "codex",
      cli_version: "1",
    }),
    codex("response_item", {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "Where is the mill?" }],
    }),
  ].join(""),
  "plan.md": "# The plan\n",
} as const;
