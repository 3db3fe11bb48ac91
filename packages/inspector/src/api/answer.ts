/**
 * An answer of the gateway as a view holds it: loading, there, or failed. It is asked for again when its question changes
 * or when told; until the new one is there the old one stays, so that nothing jumps. Of two that cross, the newer counts.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiOutcome, ApiProblem } from "./ask.ts";

export interface Held<T> {
  /** Of the question as it is now, or as it was until the new answer is there. */
  readonly value: T | null;
  readonly problem: ApiProblem | null;
  readonly isLoading: boolean;
  reload(): void;
}

/** `question` names what is asked: a change of it asks anew and forgets the old answer. */
export function useAnswer<T>(question: string, request: () => Promise<ApiOutcome<T>>): Held<T> {
  const [state, setState] = useState<{ readonly of: string; readonly outcome: ApiOutcome<T> | null }>({
    of: question,
    outcome: null,
  });
  const [round, setRound] = useState(0);
  const [isLoading, setLoading] = useState(true);
  const last = useRef<T | null>(null);
  useEffect(() => {
    let isCurrent = true;
    setLoading(true);
    void request().then((outcome) => {
      if (!isCurrent) return;
      setState({ of: question, outcome });
      setLoading(false);
    });
    return () => {
      isCurrent = false;
    };
  }, [question, round]);
  const outcome = state.of === question ? state.outcome : null;
  if (state.of !== question) last.current = null;
  if (outcome?.kind === "ok") last.current = outcome.value;
  return {
    value: last.current,
    problem: outcome?.kind === "failed" ? outcome.problem : null,
    isLoading,
    reload: () => setRound((count) => count + 1),
  };
}
