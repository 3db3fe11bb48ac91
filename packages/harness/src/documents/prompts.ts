/** What would be sent, what fills the window and what was found, as JSON. */
import { createSnippets } from "@palimpsest/core/recall";
import type { SentRequest } from "../agent/past-request.ts";
import type { ThreadCost } from "../assistant/thread-cost.ts";
import type { ThreadPrompt } from "../inspect/thread-prompt.ts";
import type { SearchOutcome } from "../recall/search.ts";

export function viewDocument(threadId: string, prompt: ThreadPrompt) {
  const { dialect, count, messages, sources, simulated, system, tools, repairs, damage } = prompt;
  return {
    thread: threadId,
    dialect,
    tokens: count.tokens,
    source: count.source,
    simulated,
    system,
    tools,
    repairs,
    messages,
    sources,
    ...(damage !== null && { damage }),
  };
}

export function requestDocument(threadId: string, { kind: _, ...request }: SentRequest) {
  return { thread: threadId, ...request };
}

export function contextDocument(threadId: string, prompt: ThreadPrompt, cost: ThreadCost | null) {
  const { breakdown, simulated, damage } = prompt;
  return {
    thread: threadId,
    ...breakdown,
    simulated,
    ...(cost !== null && { cost }),
    ...(damage !== null && { damage }),
  };
}

/** `all`: of every thread, so that each hit names its own. */
export function searchDocument(question: string, outcome: SearchOutcome, { all }: { readonly all: boolean }) {
  const snippetOf = createSnippets(question);
  const found = outcome.kind === "found" ? outcome.hits : [];
  const hits = found.map(({ threadId, seq, score, at, role, speaker, text }) => {
    const { text: snippet, marks } = snippetOf(text);
    const hit = { seq, score, at, role, speaker };
    return { ...(all && { thread: threadId }), ...hit, snippet, marks };
  });
  const { unindexed, building } = outcome;
  return {
    hits,
    ...(outcome.kind === "nothing" && { reason: outcome.reason }),
    ...(unindexed !== undefined && { unindexed }),
    ...(building !== undefined && { building }),
  };
}
