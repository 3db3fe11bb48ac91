import type { MessageRecord } from "@palimpsest/core/log";
import { shapeOf } from "@palimpsest/core/message";
import { type Means, replay } from "palimpsest/threads";
import type { Context, Run } from "../command.ts";
import { withThread } from "../home.ts";
import { writeMessage } from "../message-text.ts";

export const run: Run = async ({ positionals, options }, context) => {
  const thread = positionals[0]!;
  await withThread(context, thread, async (means) => {
    if (options["raw"]) await printRaw(means, thread, context);
    else if (context.format === "json") await printJson(means, thread, context);
    else await printText(means, thread, context);
  });
  return 0;
};

async function printRaw(means: Means, thread: string, { output, signal }: Context): Promise<void> {
  for await (const { body } of replay(means, thread)) {
    signal.throwIfAborted();
    await output.write(`${body}\n`);
  }
}

/** One document, written as it is read; bodies go in as they are stored. */
async function printJson(means: Means, thread: string, { output, signal }: Context): Promise<void> {
  const seqs: number[] = [];
  let dialect: string | null = null;
  for await (const record of replay(means, thread)) {
    signal.throwIfAborted();
    if (seqs.length === 0) {
      dialect = record.dialect;
      await output.write(`{"thread":${JSON.stringify(thread)},"dialect":"${dialect}","messages":[\n${record.body}`);
    } else await output.write(`,\n${record.body}`);
    seqs.push(record.seq);
  }
  if (dialect === null) await output.json({ thread, dialect, messages: [], seqs });
  else await output.write(`\n],"seqs":${JSON.stringify(seqs)}}\n`);
}

async function printText(means: Means, thread: string, { output, signal }: Context): Promise<void> {
  // Marks belong to the log, not to what was said: they show where a prompt no longer holds the text above.
  const head = await means.store.head(thread);
  let marked = head === undefined || head.hiddenThrough === 0;
  for await (const record of replay(means, thread)) {
    signal.throwIfAborted();
    if (!marked && record.seq > head!.hiddenThrough) {
      marked = true;
      await output.line(`---- compacted up to here: the prompt shows a summary (record ${head!.compaction}) ----`);
    }
    await output.line(describe(record));
  }
}

function describe(record: MessageRecord): string {
  return writeMessage(JSON.parse(record.body), shapeOf(record.dialect), `#${record.seq}`);
}
