/** Everything ever said in a thread, printed. */
import type { MessageRecord } from "@palimpsest/core/log";
import { shapeOf } from "@palimpsest/core/message";
import { messages, records } from "palimpsest/internal/thread-operations";
import { UsageError } from "../command/failure.ts";
import { type Acts, acting } from "../home/acts.ts";
import { masked } from "../terminal/masked.ts";
import { writeMessage } from "../terminal/message-text.ts";

interface Options {
  readonly raw?: boolean;
  readonly mask?: boolean;
}

export const { run, remote } = acting<Options>(
  async ({ positionals, options: { raw = false, mask = false } }, acts) => {
    const thread = positionals[0]!;
    const { format, output, signal } = acts;
    const as = raw ? "exact" : format;
    if (mask && as !== "text")
      throw new UsageError("--mask is for people: the messages of --raw and --json stay as they are.");
    if (as === "text") {
      const pieces = text(acts, thread);
      await output.stream(mask ? masked(pieces) : pieces, { signal, as });
    } else {
      const { pieces } = await acts.call(messages, { thread, as: raw ? "jsonl" : "json" });
      await output.stream(pieces, { signal, as });
    }
    return 0;
  },
);

/** With a mark where the prompt stops showing what was said and shows a summary instead. */
async function* text(acts: Acts, threadId: string): AsyncGenerator<string> {
  let isMarked = false;
  for (let after: number | null = 0; after !== null; ) {
    acts.signal.throwIfAborted();
    const page: Awaited<ReturnType<(typeof records)["run"]>> = await acts.call(records, {
      thread: threadId,
      after,
      limit: PAGE,
      kind: "message",
    });
    for (const record of page.records as readonly MessageRecord[]) {
      if (page.hidden !== null && !isMarked && record.seq > page.hidden.through) {
        isMarked = true;
        yield `---- compacted up to here: the prompt shows a summary (record ${page.hidden.by}) ----\n\n`;
      }
      yield `${writeMessage(JSON.parse(record.body), shapeOf(record.dialect), `#${record.seq}`)}\n`;
    }
    after = page.next === null ? null : Number(page.next);
  }
}

const PAGE = 500;
