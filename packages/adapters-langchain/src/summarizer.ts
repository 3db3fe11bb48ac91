/** Who writes the summaries: a function, or a chat model of LangChain's. */
type SummarizeText = (prompt: string, signal: AbortSignal) => Promise<string> | string;

/** What a chat model has of it. */
interface ChatModel {
  invoke(
    prompt: string,
    options: { readonly signal: AbortSignal; readonly tags: string[] },
  ): Promise<{ readonly text: string }>;
}

export type GivenSummarizer = SummarizeText | ChatModel;

export function summarizerOf(given: GivenSummarizer | undefined): SummarizeText | undefined {
  if (given === undefined || typeof given === "function") return given;
  // A summary is not the agent's message and must not appear in streams of the run.
  const tags = ["nostream", "langsmith:nostream"];
  return async (prompt, signal) => (await given.invoke(prompt, { signal, tags })).text;
}
