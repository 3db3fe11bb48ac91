/** Looking at a thread: its prompt, what fills the window, a search, its map, everything said, its chain of hashes. */

import type { MessageRecord } from "@palimpsest/core/internal/log";
import { type Dialect, shapeOf } from "@palimpsest/core/internal/message";
import { mapLineText } from "@palimpsest/core/internal/recall";
import { verify } from "palimpsest/internal/acting";
import { context, map, request, search, searchEverywhere, view } from "palimpsest/internal/looking";
import type { ResultOf } from "palimpsest/internal/operation";
import { coverNote } from "palimpsest/internal/recall";
import { messages, records } from "palimpsest/internal/thread-operations";
import { verify as verifyThread } from "palimpsest/session";
import { everyThread, everyUser } from "palimpsest/stores";
import type { CommandRun, Context, Input, Printing, Remote } from "../command/command.ts";
import { sentence, UsageError } from "../command/failure.ts";
import { type Acts, acting, choosing, performing, print, withHome } from "../home/home.ts";
import { drawBudget } from "../terminal/budget-bar.ts";
import { inBold, masked, NOTHING_FOUND, writeMessage } from "../terminal/messages.ts";
import { costLine, counted, grouped, type Output, plain, throttled } from "../terminal/output.ts";

interface ContextOptions {
  readonly window?: number;
}

export const showingContext = performing(context, {
  input: ({ positionals, options: { window } }: Input<ContextOptions>) => ({ thread: positionals[0]!, window }),
  notes: damageNotes,
  async show(document, { output }, { options: { window } }) {
    const { thread: title, simulated, cost, windowAssumed } = document;
    const { color } = output;
    await output.styled(`${drawBudget(document, { title, color, width: process.stdout.columns || 80 })}\n`);
    if (cost !== undefined) await output.line(`${sentence(costLine(cost))}.`);
    if (simulated) output.note(`As a window of ${window} would force it; nothing was written.`);
    if (windowAssumed)
      output.note(`The model's window is not known: ${grouped(document.window)} tokens are assumed. Pass --window N.`);
  },
  failed: ({ damage }) => damage !== undefined,
});

function damageNotes({ damage }: Pick<ResultOf<typeof context>, "damage">): readonly string[] {
  return damage === undefined ? [] : [`palimpsest: ${damage.message}`];
}

interface ViewFlags {
  readonly window?: number;
  readonly request?: number;
}

export const viewing = choosing<ViewFlags>(({ options }) => (options.request === undefined ? now : past));

const now = performing(view, {
  input: ({ positionals, options: { window } }: Input<ViewFlags>) => ({ thread: positionals[0]!, window }),
  notes: damageNotes,
  async show({ dialect, tokens, source, messages, simulated, repairs }, { output }, { options: { window = 0 } }) {
    for (const [what, all] of Map.groupBy(repairs, ({ kind, detail }) => `${kind}, ${detail}`))
      output.note(`repaired: ${what}${all.length > 1 ? ` (${all.length} times)` : ""}`);
    await writeMessages(messages, dialect, output);
    const size = `${counted(messages.length, "message")}, ${grouped(tokens)} tokens (${source})`;
    output.note(simulated ? `${size}, as a window of ${grouped(window)} would force it; nothing was written` : size);
    if (simulated) output.note("A compaction goes well below the window, so that the next one is far off.");
  },
  failed: ({ damage }) => damage !== undefined,
});

const past = performing(request, {
  input: ({ positionals, options }: Input<ViewFlags>) => ({ thread: positionals[0]!, seq: options.request! }),
  async show({ system, messages, tools, parameters, answer, redacted, rewritten }, { output }) {
    await output.line(typeof system === "string" ? system : system.content);
    await writeMessages(messages, parameters?.loop?.dialect ?? "ai-sdk", output);
    const names = tools.map(toolName).join(", ");
    output.note(`tools: ${names === "" ? "none" : names}; parameters: ${JSON.stringify(parameters)}`);
    output.note(`${counted(messages.length, "message")}, answered at record ${answer}`);
    if (redacted.length > 0) output.note(`not as it was sent: redacted since: ${redacted.join(", ")}`);
    if (rewritten.length > 0)
      output.note(`not as it was sent: a redaction has changed the summary of record ${rewritten.join(", ")}`);
  },
  hints: { "no-request": '"palimpsest replay T --json" names the records' },
});

async function writeMessages(messages: readonly object[], dialect: Dialect, output: Output): Promise<void> {
  for (const [index, message] of messages.entries())
    await output.line(writeMessage(message, shapeOf<object>(dialect), `${index + 1}`));
}

/** OpenAI's chat has it one level deeper than the others. */
function toolName(tool: { readonly name?: string; readonly function?: { readonly name?: string } }): string {
  return tool.name ?? tool.function?.name ?? "unnamed";
}

interface SearchFlags {
  readonly limit?: number;
  readonly all?: boolean;
}

export const searching = choosing<SearchFlags>(({ options }) => (options.all === true ? everywhere : inside));

const inside = performing(search, {
  input({ positionals: [thread, q], options: { limit } }: Input<SearchFlags>) {
    if (q === undefined)
      throw new UsageError("QUERY is missing. Usage: palimpsest search T QUERY, or search --all QUERY");
    return { thread: thread!, q, limit };
  },
  notes: coverNotes,
  show: showSearch,
});

const everywhere = performing(searchEverywhere, {
  input({ positionals: [q, second], options: { limit } }: Input<SearchFlags>) {
    if (second !== undefined)
      throw new UsageError(`"${second}" is one argument too many. Usage: palimpsest search --all QUERY`);
    return { q: q!, limit };
  },
  notes: coverNotes,
  show: showSearch,
  empty: () => ({ hits: [], reason: "no-match" as const }),
});

function coverNotes(document: ResultOf<typeof search>): readonly string[] {
  const missing = coverNote(document);
  return missing === null ? [] : [missing];
}

async function showSearch({ hits, reason }: ResultOf<typeof search>, { output }: Printing): Promise<void> {
  for (const { thread, seq, at, role, snippet: text, marks } of hits) {
    await output.line(`${thread === undefined ? "" : `${thread} `}#${seq} ${role} ${at}`);
    const words = output.color ? inBold({ text, marks }) : plain(text);
    await output.styled(`${words.replaceAll(/^/gm, "  ")}\n\n`);
  }
  if (reason !== undefined) output.note(NOTHING_FOUND[reason]);
}

interface MapOptions {
  readonly tokens?: number;
}

export const mapping = performing(map, {
  input: ({ positionals: [thread, q], options: { tokens } }: Input<MapOptions>) => ({ thread: thread!, q, tokens }),
  async show({ lines, stretches }, { output }) {
    for (const line of lines) await output.line(mapLineText(line));
    const left = stretches - lines.length;
    if (stretches === 0) output.note("Nothing was said in this thread yet.");
    else if (left > 0) output.note(`${left} more did not fit: ask for one subject, or raise --tokens.`);
  },
});

/* Everything ever said in a thread, printed. */

interface ReplayOptions {
  readonly raw?: boolean;
  readonly mask?: boolean;
}

export const replaying = acting<ReplayOptions>(
  async ({ positionals, options: { raw = false, mask = false } }, acts) => {
    const thread = positionals[0]!;
    const { format, output, signal } = acts;
    const as = raw ? "exact" : format;
    if (mask && as !== "text")
      throw new UsageError("--mask is for people: the messages of --raw and --json stay as they are.");
    if (as === "text") {
      const pieces = text(acts, thread);
      const stored = mask ? (await acts.call(messages, { thread, as: "jsonl" })).pieces : null;
      await output.stream(stored === null ? pieces : masked(pieces, stored), { signal, as });
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

interface VerifyOptions {
  readonly all?: boolean;
}

const runVerify: CommandRun<VerifyOptions> = async (given, context) => {
  const { positionals, options } = given;
  if (options.all !== true) return one.run(given, context);
  if (positionals[0] !== undefined) throw new UsageError("--all takes no thread.");
  return verifyAll(context);
};

const remoteVerify: Remote<VerifyOptions> = async (given, context) => {
  if (given.options.all === true || given.positionals[0] === undefined)
    throw new UsageError("With --server one thread is verified: palimpsest verify T");
  return one.remote(given, context);
};

const one = performing(verify, {
  input({ positionals: [thread] }: Input<VerifyOptions>) {
    if (thread === undefined) throw new UsageError("T is missing. Usage: palimpsest verify T, or verify --all");
    return { thread };
  },
  async show({ records, redacted, rewritten, firstBad }, { output }, { positionals: [threadId] }) {
    if (firstBad === undefined) await output.line(`${threadId}: ${counted(records, "record")}, the chain is whole.`);
    else output.note(`palimpsest: ${threadId} is not as it was written. ${firstBad.detail}.`);
    if (redacted.length > 0) output.note(`redacted: ${redacted.join(", ")}`);
    if (rewritten.length > 0) output.note(`summaries without what was redacted: ${rewritten.join(", ")}`);
  },
  failed: ({ firstBad }) => firstBad !== undefined,
});

/** Every thread of every user; only reads. */
async function verifyAll(context: Context): Promise<number> {
  const { output, located } = context;
  const told = throttled(output, (threads: number) => `${counted(threads, "thread")} verified`);
  const broken: { readonly user: string; readonly thread: string; readonly detail: string }[] = [];
  const total = { threads: 0, records: 0, redacted: 0 };
  if (await located.hasStore())
    await withHome(context, async (home) => {
      for await (const store of everyUser(home.store))
        for await (const { header } of everyThread(store)) {
          const verdict = await verifyThread({ ...home, store }, header.id);
          if (verdict.kind === "missing") continue;
          total.threads += 1;
          total.records += verdict.records;
          total.redacted += verdict.redacted.length;
          if (verdict.kind === "broken")
            broken.push({ user: header.user, thread: header.id, detail: verdict.firstBad.detail });
          told(total.threads);
        }
    });
  const whole = `${total.threads - broken.length} of ${counted(total.threads, "thread")} whole`;
  await print(context, { ok: broken.length === 0, ...total, broken }, () => [
    ...broken.map(({ user, thread, detail }) => `BAD  ${thread} (${user}): ${detail}`),
    `${whole}, ${counted(total.records, "record")}.`,
  ]);
  return broken.length === 0 ? 0 : 1;
}

export const verifying = { run: runVerify, remote: remoteVerify };
