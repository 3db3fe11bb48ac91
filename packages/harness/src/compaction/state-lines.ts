import type { StateLines } from "@palimpsest/core/compaction";
import { readNotes } from "@palimpsest/core/internal/log";

/**
 * The parts of a thread's state that a summary must carry, as lines: todos, delegations, loaded skills. They are state,
 * not messages, so that a compaction can't lose them.
 */
export function stateLines(state: Readonly<Record<string, unknown>>): StateLines {
  return {
    todos: listOf(state["todos"], (todo) => `[${text(todo, "status") || "open"}] ${text(todo, "content")}`),
    delegations: listOf(byNeed(state["delegations"]), delegation),
    ...(state["notes"] != null && { notes: readNotes(state) }),
    skills: listOf(state["skills"], (skill) => (typeof skill === "string" ? skill : text(skill, "name"))),
  };
}

/** Where there isn't room for all: what isn't finished first, then the newest. */
function byNeed(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const newest = value.toReversed();
  const open = (task: unknown): boolean => text(task, "status") !== "completed";
  return [...newest.filter(open), ...newest.filter((task) => !open(task))];
}

function delegation(task: unknown): string {
  const [status, threadId, answer] = [text(task, "status"), text(task, "threadId"), text(task, "answer")];
  // An answer's file is named after its thread, and every line has to be paid for in each prompt.
  const deleted = text(task, "deletedAt").slice(0, 10);
  const place = deleted === "" ? `thread ${threadId}` : `its thread was deleted on ${deleted}`;
  const where = answer.includes(threadId) ? `answer in ${answer}` : place;
  const open = status === "interrupted" && deleted === "";
  const next = open ? "; not finished: continue it with task and resume" : "";
  return `${status}: ${text(task, "description")} (${where}${next})`;
}

function listOf(value: unknown, line: (item: unknown) => string): string[] {
  const items = Array.isArray(value) ? value : typeof value === "object" && value !== null ? Object.values(value) : [];
  return items.map(line).filter((one) => one.trim() !== "");
}

function text(item: unknown, key: string): string {
  const value = typeof item === "object" && item !== null ? (item as Record<string, unknown>)[key] : undefined;
  return typeof value === "string" ? value : "";
}
