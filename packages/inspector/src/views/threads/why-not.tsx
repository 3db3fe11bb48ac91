/** Why a search found nothing, or not every word of it: each missing word by itself, names of threads, and how words count. */
import { useAnswer } from "../../api/answer.ts";
import { type ApiOutcome, ask } from "../../api/ask.ts";
import { isEveryThread, threads } from "../../api/threads.ts";
import { Empty } from "../../parts/empty.tsx";
import { filtered } from "../../parts/tree.ts";
import { addressOf } from "../../router/place.ts";
import { grouped, visible } from "../../text/format.ts";
import { unmarkedWords } from "../../text/search-words.ts";
import { threadName } from "../thread-name.ts";

interface WhyNothingProps {
  readonly question: string;
  readonly reason: string | undefined;
  /** What the index doesn't have yet; null: it has everything. */
  readonly cover: string | null;
}

export function WhyNothing({ question, reason, cover }: WhyNothingProps) {
  const all = [...threads.value.values()].map((thread) => ({ thread, depth: 0 }));
  const named = filtered(all, question).slice(0, 5);
  return (
    <Empty title={cover === null ? "Nothing was said about that" : "Nothing found yet"}>
      {cover !== null && <p>{cover}</p>}
      <p>
        {reason === "no-terms"
          ? "All of these words are too common to search for: add one that names something."
          : `No message${isEveryThread.value && all.length > 1 ? ` of ${grouped(all.length)} threads` : ""} contains any of these words.`}
      </p>
      <ul class="hints">
        <li>Whole words match, by their stems: “deploying” finds “deployed”, “depl” finds neither.</li>
        <li>Synonyms and words of another language find nothing here.</li>
        <li>Redacted words are gone; hidden and folded ones are found.</li>
      </ul>
      {named.length > 0 && (
        <p class="row wrap">
          Threads of this name:
          {named.map(({ thread: { id } }) => (
            <a key={id} class="link" href={addressOf("window", id)}>
              {threadName(id)}
            </a>
          ))}
        </p>
      )}
    </Empty>
  );
}

interface MissingWordsProps {
  readonly question: string;
  readonly hits: readonly { readonly snippet: string; readonly marks: readonly unknown[] }[];
}

/** Words of the question that no hit has: those that stand nowhere are told. */
export function MissingWords({ question, hits }: MissingWordsProps) {
  const words = unmarkedWords(question, hits);
  const { value } = useAnswer(`words ${words.join(" ")}`, async (): Promise<ApiOutcome<readonly string[]>> => {
    const outcomes = await Promise.all(
      words.map(async (word) => ({ word, outcome: await ask("GET /api/search", { query: { q: word, limit: 1 } }) })),
    );
    const nowhere = outcomes.filter(({ outcome }) => outcome.kind === "ok" && outcome.value.hits.length === 0);
    return { kind: "ok", value: nowhere.map(({ word }) => word) };
  });
  if (value === null || value.length === 0) return null;
  return (
    <p class="dim small">
      No message has {value.map((word) => `“${visible(word)}”`).join(" or ")}: these hits have the other words.
    </p>
  );
}
