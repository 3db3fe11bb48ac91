import type { MessageRecord } from "@palimpsest/core/log";
import { type Dialect, type Shape, shapeOf } from "@palimpsest/core/message";
import { replayDocument } from "palimpsest/internal/documents";
import { replay, type ThreadDeps } from "palimpsest/threads";
import type { Remote, Run } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { textPieces, threadPath } from "../command/server.ts";
import { withThread } from "../home/home.ts";
import { masked } from "../terminal/masked.ts";
import { writeMessage } from "../terminal/message-text.ts";

interface Options {
  readonly raw?: boolean;
  readonly mask?: boolean;
}

export const run: Run<Options> = async ({ positionals, options }, context) => {
  const threadId = positionals[0]!;
  const as = options.raw ? "exact" : context.format;
  if (options.mask === true && as !== "text")
    throw new UsageError("--mask is for people: the messages of --raw and --json stay as they are.");
  const write = { exact: raw, json: replayDocument, text }[as];
  const { output, signal } = context;
  await withThread(context, threadId, (deps) => {
    const pieces = write(deps, threadId);
    return output.stream(options.mask === true ? masked(pieces) : pieces, { signal, as });
  });
  return 0;
};

/** Where the prompt shows a summary isn't marked: a route gives what was said. */
export const remote: Remote<Options> = async ({ positionals, options }, context) => {
  const { format, output, signal, server } = context;
  if (options.mask === true) throw new UsageError("--mask works on this machine's threads, not with --server.");
  const path = threadPath(positionals[0]!, "/messages");
  if (format === "json" || options.raw) {
    const response = await server.open(path, { query: options.raw ? { as: "jsonl" } : {} });
    await output.stream(textPieces(response), { signal, as: options.raw ? "exact" : "json" });
    return 0;
  }
  const { dialect, messages, seqs } = await server.get<Said>(path);
  const shape = shapeOf(dialect ?? "ai-sdk") as unknown as Shape<object>;
  for (const [index, message] of messages.entries()) {
    signal.throwIfAborted();
    await output.write(`${writeMessage(message, shape, `#${seqs[index]}`)}\n`);
  }
  return 0;
};

interface Said {
  readonly dialect: Dialect | null;
  readonly messages: readonly object[];
  readonly seqs: readonly number[];
}

async function* raw(deps: ThreadDeps, threadId: string): AsyncGenerator<string> {
  for await (const { body } of replay(deps, threadId)) yield `${body}\n`;
}

/** With a mark where the prompt stops showing what was said and shows a summary instead. */
async function* text(deps: ThreadDeps, threadId: string): AsyncGenerator<string> {
  const head = await deps.store.head(threadId);
  let marked = head === undefined || head.hiddenThrough === 0;
  for await (const record of replay(deps, threadId)) {
    if (!marked && record.seq > head!.hiddenThrough) {
      marked = true;
      yield `---- compacted up to here: the prompt shows a summary (record ${head!.compaction}) ----\n\n`;
    }
    yield `${describe(record)}\n`;
  }
}

function describe(record: MessageRecord): string {
  return writeMessage(JSON.parse(record.body), shapeOf(record.dialect), `#${record.seq}`);
}
