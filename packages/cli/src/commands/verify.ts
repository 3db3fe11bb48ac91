import { verifyDocument } from "palimpsest/internal/documents";
import { everyThread, everyUser } from "palimpsest/stores";
import { verify } from "palimpsest/threads";
import type { Context, Printing, Remote, Run } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { threadPath } from "../command/server.ts";
import { missingThread, withHome, withThread } from "../home/home.ts";
import { counted } from "../terminal/counted.ts";
import { throttled } from "../terminal/throttled.ts";

export const run: Run<{ readonly all?: boolean }> = async ({ positionals, options }, context) => {
  const threadId = positionals[0];
  if (options.all === true) {
    if (threadId !== undefined) throw new UsageError("--all takes no thread.");
    return verifyAll(context);
  }
  if (threadId === undefined) throw new UsageError("T is missing. Usage: palimpsest verify T, or verify --all");
  const verdict = await withThread(context, threadId, (deps) => verify(deps, threadId));
  if (verdict.kind === "missing") throw missingThread(context, threadId);
  return show(threadId, verifyDocument(verdict), context);
};

export const remote: Remote<{ readonly all?: boolean }> = async ({ positionals, options }, context) => {
  const threadId = positionals[0];
  if (options.all === true || threadId === undefined)
    throw new UsageError("With --server one thread is verified: palimpsest verify T");
  return show(threadId, await context.server.send("POST", threadPath(threadId, "/verify")), context);
};

async function show(
  threadId: string,
  document: ReturnType<typeof verifyDocument>,
  { format, output }: Printing,
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
          const verdict = await verify({ ...home, store }, header.id);
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
