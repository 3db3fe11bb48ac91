import { verify } from "palimpsest/internal/acting";
import type { ResultOf } from "palimpsest/internal/operation";
import { everyThread, everyUser } from "palimpsest/stores";
import { verify as verifyThread } from "palimpsest/threads";
import type { Context, Input, Printing, Remote, Run } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { performing } from "../home/acts.ts";
import { withHome } from "../home/home.ts";
import { counted } from "../terminal/counted.ts";
import { throttled } from "../terminal/throttled.ts";

interface Options {
  readonly all?: boolean;
}

export const run: Run<Options> = async (given, context) => {
  const { positionals, options } = given;
  if (options.all !== true) return one.run(given, context);
  if (positionals[0] !== undefined) throw new UsageError("--all takes no thread.");
  return verifyAll(context);
};

export const remote: Remote<Options> = async (given, context) => {
  if (given.options.all === true || given.positionals[0] === undefined)
    throw new UsageError("With --server one thread is verified: palimpsest verify T");
  return one.remote(given, context);
};

const one = performing(verify, {
  input({ positionals: [thread] }: Input<Options>) {
    if (thread === undefined) throw new UsageError("T is missing. Usage: palimpsest verify T, or verify --all");
    return { thread };
  },
  show,
});

async function show(
  document: ResultOf<typeof verify>,
  { format, output }: Printing,
  { positionals: [threadId] }: Input<Options>,
): Promise<number> {
  const { records, redacted, firstBad } = document;
  if (format === "json") await output.json(document);
  else if (firstBad === undefined) {
    await output.line(`${threadId}: ${counted(records, "record")}, the chain is whole.`);
  } else output.note(`palimpsest: ${threadId} is not as it was written. ${firstBad.detail}.`);
  if (redacted.length > 0 && format === "text") output.note(`redacted: ${redacted.join(", ")}`);
  return firstBad === undefined ? 0 : 1;
}

/** Every thread of every user; only reads. */
async function verifyAll(context: Context): Promise<number> {
  const { output, located, format } = context;
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
  if (format === "json") await output.json({ ok: broken.length === 0, ...total, broken });
  else {
    for (const { user, thread, detail } of broken) await output.line(`BAD  ${thread} (${user}): ${detail}`);
    const whole = total.threads - broken.length;
    await output.line(`${whole} of ${counted(total.threads, "thread")} whole, ${counted(total.records, "record")}.`);
  }
  return broken.length === 0 ? 0 : 1;
}
