/**
 * Erasing that was killed in between: facts that rest on a message which is erased already, and logs that still show facts
 * which are. A rebuild finds and completes both; nobody has to remember what was erased.
 */
import { erasedFacts } from "@palimpsest/core/internal/memory";
import { eraseMessage } from "../memory/erase-message.ts";
import type { Repository } from "../memory/repository.ts";
import type { Store } from "../stores/store.ts";
import { everyUser } from "../stores/users.ts";
import { eraseFacts } from "../thread/redact.ts";
import { threadDeps } from "../thread/writer.ts";
import type { Check } from "./doctor.ts";
import { cleanThreadFiles } from "./thread-files.ts";

/** Nothing where all is well. */
export async function halfErasedChecks(store: Store, repository: Repository, home: string): Promise<Check[]> {
  const checks: Check[] = [];
  for await (const own of everyUser(store)) {
    const options = {
      deps: threadDeps(own),
      repository,
      cleanFiles: (threadId: string) => cleanThreadFiles(home, own, threadId),
    };
    const erasedRefs: string[] = [];
    const shown = new Set<string>();
    for (const scope of (await repository.storage.scopes?.(own.userId)) ?? []) {
      const document = await repository.storage.reload(scope);
      if (document === null) continue;
      const refs = new Set(document.facts.flatMap(({ sourceMessageIds = [] }) => sourceMessageIds));
      for (const { threadId, seq } of await erasedAmong(own, refs)) {
        const done = await eraseMessage(options, threadId, seq);
        if ("facts" in done) erasedRefs.push(...done.facts);
      }
      const names = erasedFacts(document);
      if (names.size === 0) continue;
      const { threads } = await eraseFacts(options.deps, { names, texts: [], blocks: "named" });
      for (const threadId of threads) shown.add(threadId);
    }
    if (erasedRefs.length > 0)
      checks.push(bad(own, `${erasedRefs.join(", ")} rested on messages that are erased; forgotten now`));
    if (shown.size > 0)
      checks.push(bad(own, `${[...shown].join(", ")} showed facts that are erased; erased there now`));
  }
  return checks;
}

function bad({ userId }: Store, what: string): Check {
  return { name: `erasing for ${userId}`, ok: false, detail: `was killed in between: ${what}` };
}

async function erasedAmong(store: Store, refs: Iterable<string>): Promise<{ threadId: string; seq: number }[]> {
  const messages: { threadId: string; seq: number }[] = [];
  for (const ref of refs) {
    const [, threadId, digits] = /^([^#]+)#(\d{1,15})$/.exec(ref) ?? [];
    if (threadId === undefined) continue;
    const seq = Number(digits);
    for await (const { redacted } of store.records(threadId, { range: [seq, seq], kinds: ["message"] }))
      if (redacted) messages.push({ threadId, seq });
  }
  return messages;
}
