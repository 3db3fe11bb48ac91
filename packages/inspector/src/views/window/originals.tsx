/** Everything that a compaction hides, as it was said, a page at a time. */
import { useEffect, useState } from "preact/hooks";
import { type ApiProblem, ask } from "../../api/ask.ts";
import type { StreamLine } from "../../api/lines.ts";
import { ProblemNote } from "../../parts/problem.tsx";
import { Said } from "./message-detail.tsx";

interface OriginalsProps {
  readonly threadId: string;
  /** The last record that is shown. */
  readonly through: number;
  readonly from?: number;
  readonly onClose?: () => void;
}

export function Originals({ threadId, through, from = 1, onClose }: OriginalsProps) {
  const [lines, setLines] = useState<readonly StreamLine[]>([]);
  const [next, setNext] = useState<number | null>(from);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const more = async () => {
    const query = { from: next ?? 1, limit: 40, length: 1200 };
    const outcome = await ask("GET /api/threads/{id}/lines", { params: { id: threadId }, query });
    if (outcome.kind === "failed") return setProblem(outcome.problem);
    const some = outcome.value.lines.filter(({ seq }) => seq <= through);
    setLines([...lines, ...some]);
    setNext(some.length < outcome.value.lines.length ? null : outcome.value.next);
    setProblem(null);
  };
  useEffect(() => void more(), []);
  return (
    <div class="stack">
      <div class="row">
        <h2 class="title">
          #{from} to #{through}, as it was said
        </h2>
        {onClose !== undefined && (
          <button type="button" class="button push" onClick={onClose}>
            Back
          </button>
        )}
      </div>
      {lines.map((line) => (
        <Said key={line.seq} line={line} />
      ))}
      {problem !== null && <ProblemNote problem={problem} retry={() => void more()} />}
      {next !== null && lines.length > 0 && (
        <button type="button" class="button" onClick={() => void more()}>
          More, from #{next}
        </button>
      )}
    </div>
  );
}
