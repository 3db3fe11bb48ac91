/** A transcript that is played under several policies: followed to its end, how far it is told on the way. */
import type { PlottedRow } from "@palimpsest/lab/internal/report";
import { ServerEventReader } from "palimpsest/internal/client";
import { type ApiOutcome, type AskAnswer, problemOf } from "../../api/ask.ts";
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
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const events = new ServerEventReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return failed({ error: { code: "broken-off", message: "The lab broke off before its report." } }, 500);
      for (const { name, data } of events.read(value)) {
        if (name === "error") return failed(JSON.parse(data) as PlayRefusal, 422);
        const event = JSON.parse(data) as LabEvent;
        if (event.type === "lab-report") return { kind: "ok", value: reportOf(event) };
        onProgress(event.done, event.policy);
      }
    }
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
