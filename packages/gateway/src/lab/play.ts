/** Plays a transcript under the built-in policies. It computes for long, so it runs in a thread of its own (`play-apart.ts`). */
import { errorText } from "@palimpsest/core/internal/text";
import { builtInPolicies, type LabReport, readTranscripts, runLab } from "@palimpsest/lab";
import { RECALL_HITS } from "@palimpsest/lab/internal/replay";

export interface LabRequest {
  readonly name: string;
  /** A file that `import` reads: its text, or a zip archive. */
  readonly file: string | Uint8Array;
  readonly window: number;
  readonly hits?: number | undefined;
}

export type LabAnswer =
  | { readonly kind: "played"; readonly report: LabReport; readonly problems: readonly string[] }
  | { readonly kind: "nothing"; readonly problems: readonly string[] };

/** How far it is, from 0 to 1, and which policy was played last. */
export interface LabProgress {
  readonly done: number;
  readonly policy: string;
}

/** An archive that is larger is refused by what its own list says: all of it is held in memory while it is played. */
const MOST = { files: 10_000, bytes: 64 << 20 };

export async function playLab(
  { name, file, window, hits = RECALL_HITS }: LabRequest,
  onProgress: (progress: LabProgress) => void,
): Promise<LabAnswer> {
  const { transcripts, problems } = await readTranscripts(name, Buffer.from(file), MOST).catch((error: unknown) => ({
    transcripts: [],
    problems: [`it can't be read: ${errorText(error)}`],
  }));
  if (transcripts.length === 0) return { kind: "nothing", problems };
  const report = await runLab({
    transcripts,
    policies: builtInPolicies(window),
    window,
    hits,
    onProgress: (done, policy) => onProgress({ done, policy }),
  });
  return { kind: "played", report, problems };
}
