/** What went wrong, beside what caused it, with a way on. */
import type { ApiProblem } from "../api/ask.ts";

export function ProblemNote({ problem, retry }: { readonly problem: ApiProblem; readonly retry?: () => void }) {
  return (
    <div class="problem row wrap" role="alert">
      <span>{problem.message}</span>
      <span class="code">{problem.code}</span>
      {retry !== undefined && (
        <button type="button" class="button push" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
