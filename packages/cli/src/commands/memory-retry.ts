import type { JobStatus } from "palimpsest/stores";
import type { Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import { withHome } from "../home/home.ts";

/** Long enough for many model calls; what is left then stays queued. */
const PATIENCE_MS = 10 * 60_000;

export const run: Run = async (_input, context) => {
  const { output, format, signal, verbose } = context;
  const nothing = { revived: 0, learned: [], left: [] };
  const report = (await context.located.hasStore())
    ? await withHome(context, async (home) => {
        const { memory } = await home.agent({ log: output.note, verbose });
        if (memory === null) throw new Failure("off", "Memory is turned off in the configuration (memory.enabled).");
        try {
          const retried = await Promise.race([memory.queue.retry(PATIENCE_MS), aborted(signal)]);
          const left = (retried.kind === "left" ? retried.jobs : []).map(shown);
          const learned = retried.threads.filter((threadId) => !left.some((job) => job.thread === threadId));
          return { revived: retried.revived, learned, left };
        } finally {
          await memory.queue.stop();
        }
      })
    : nothing;
  const { revived, learned, left } = report;
  if (format === "json") await output.json(report);
  else if (learned.length + left.length === 0) await output.line("Nothing was waiting to be learned.");
  else {
    const note = revived === 0 ? "" : ` ${revived} had been given up.`;
    if (learned.length > 0) await output.line(`Read ${learned.join(", ")}.${note}`);
    for (const { thread, state, error } of left)
      output.note(
        `${thread} is ${state === "dead" ? "given up" : "still queued"}: ${error ?? "it was not done in time"}`,
      );
  }
  return left.length === 0 ? 0 : 1;
};

function shown({ queue: _, key: agent, payload: _payload, userId: user, threadId: thread, ...rest }: JobStatus) {
  return { user, thread, ...rest, agent };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
