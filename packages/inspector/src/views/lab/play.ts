/** A transcript that is played under several policies: followed to its end, how far it is told on the way. */
import type { PlottedRow } from "@palimpsest/lab/internal/report";
import { type ApiOutcome, type AskAnswer, problemOf } from "../../api/ask.ts";
import { eventsOf } from "../../api/server-events.ts";
import type { VerdictRow } from "./verdict.ts";

type PlayRow = AskAnswer<"POST /api/lab">["policies"][number] & PlottedRow & VerdictRow;

export interface PlayReport extends Omit<AskAnswer<"POST /api/lab">, "policies"> {
  readonly policies: readonly PlayRow[];
}

export interface PlayRequest {
  /** Either a file, as text or a zip archive, or a thread's id. */
  readonly file: string | Blob;
  readonly thread: string | null;
  readonly window: number;
}

export async function playLab(
  { file, thread, window }: PlayRequest,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (done: number, policy: string) => void },
): Promise<ApiOutcome<PlayReport>> {
  const query = new URLSearchParams({ stream: "true", window: String(window), ...(thread !== null && { thread }) });
  try {
    const response = await fetch(`/api/lab?${query}`, {
      method: "POST",
      headers: {
        "content-type": typeof file === "string" ? "application/jsonl" : "application/zip",
        "x-palimpsest-lab": "1",
      },
      body: thread === null ? file : "",
      signal,
    });
    if (!response.ok) return failed((await response.json()) as PlayRefusal, response.status);
    for await (const { name, data } of eventsOf(response)) {
      if (name === "error") return failed(data as PlayRefusal, 422);
      const event = data as LabEvent;
      if (event.type === "lab-progress") onProgress(event.done, event.policy);
      else return { kind: "ok", value: reportOf(event) };
    }
    return failed({ error: { code: "broken-off", message: "The lab broke off before its report." } }, 500);
  } catch (error) {
    const code = signal.aborted ? "stopped" : "unreachable";
    return { kind: "failed", problem: signal.aborted ? STOPPED : problemOf({ code, cause: error }) };
  }
}

const STOPPED = { code: "stopped", status: null, message: "It was stopped." };

interface PlayRefusal {
  readonly error: { readonly code: string; readonly message: string };
}

type LabEvent =
  | { readonly type: "lab-progress"; readonly done: number; readonly policy: string }
  | ({ readonly type: "lab-report"; readonly plots: readonly PlottedRow["timelines"][number][] } & PlayReport);

function failed({ error }: PlayRefusal, status: number): ApiOutcome<never> {
  return { kind: "failed", problem: { ...error, status } };
}

/** The plots want each policy's timeline in its row. */
function reportOf({ plots, policies, ...report }: Extract<LabEvent, { type: "lab-report" }>): PlayReport {
  return { ...report, policies: policies.map((row, index) => ({ ...row, timelines: [plots[index] ?? []] })) };
}
