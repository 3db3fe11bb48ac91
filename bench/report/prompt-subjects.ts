/** The page's subjects about what a request holds of what is used again, what that costs, and whether an asked value is in it. */
import { byMeasure, percent, percentUp, type Row, type Subject, times, whole, withHeldOut } from "./write.ts";

interface Sent {
  readonly who: string;
  readonly of: string;
  readonly window: number;
  readonly full: number;
  readonly seen: number;
  readonly strict: number;
  readonly trunc: number | null;
  readonly search: number;
  readonly cost: number;
  readonly fetched?: number;
  readonly seenThen?: number;
  readonly over: number;
  readonly failed: number;
  readonly probes: number;
}

interface PromptFigures {
  readonly rows: readonly Sent[];
}

export const qualityPrompts: Subject = {
  id: "quality-prompts",
  title: "What a request holds of what is used again",
  about:
    "Every path, name, number and line that the model uses again after more than 20 messages (6 in dialogs): the share that stands word for word in the request really sent (seen), only in messages and quotes as they were said (strict), and that is seen or found by one search of 2,000 tokens. Nobody has a model: the rivals' summaries are extracts. Truncation: the newest messages within the same tokens as ours, request by request. Ours with rollover: a fresh window at each compaction and no notes, measured in a run of its own at 32,000 and 200,000 tokens and in the dialogs. Cost: a share of never compacting, at the cache of a provider that reads at marks. Summarizing at a share of the window, the best of 35, 45, 55, 70 and 85 %, by what is seen.",
  data: "one coding session, on which the constants of compaction were chosen, and 100 dialogs of an airline's service, which it was developed on.",
  rows: (figures: PromptFigures) => withHeldOut(figures, promptRows),
};

function promptRows({ rows }: PromptFigures): Row[] {
  return [...Map.groupBy(rows, ({ of, window }) => `${of}, ${whole(window)} tokens`)].flatMap(([what, sent]) => {
    const own = sent.find(({ who }) => who === "ours");
    if (own === undefined) return [];
    const truncated: Row = {
      what: `${what}: truncation`,
      measure: "seen",
      ours: share(own.seen),
      theirs: share(own.trunc ?? 0),
      ratio: times(own.seen / Math.max(0.1, own.trunc ?? 0)),
    };
    return [truncated, ...rivalsIn(sent).flatMap((rival) => againstRival(what, own, rival))];
  });
}

/** Of summarizing at a share of the window only the one that shows most. */
function rivalsIn(sent: readonly Sent[]): readonly Sent[] {
  const others = sent.filter(({ who }) => who !== "ours");
  const [best] = others.filter(isAtShare).sort((a, b) => b.seen - a.seen);
  return [...others.filter((one) => !isAtShare(one)), ...(best === undefined ? [] : [best])];
}

function isAtShare({ who }: Sent): boolean {
  return who.startsWith("summarize at");
}

function againstRival(what: string, own: Sent, rival: Sent): Row[] {
  const wrong = rival.over + rival.failed;
  const name = `${what}: ${rival.who}${wrong > 0 ? ` (${whole(wrong)} requests over the window or failed)` : ""}`;
  const more = (value: (one: Sent) => number) => ({
    ours: share(value(own)),
    theirs: share(value(rival)),
    ratio: times(value(own) / Math.max(0.1, value(rival))),
  });
  return byMeasure(name, {
    seen: more(({ seen }) => seen),
    strict: more(({ strict }) => strict),
    "seen or found": more(({ search }) => search),
    cost: {
      ours: percentUp(own.cost / 100),
      theirs: percentUp(rival.cost / 100),
      ratio: times(rival.cost / own.cost),
    },
    "mean request": { ours: share(own.full), theirs: share(rival.full) },
  });
}

/** Figures of this bench are in percent. */
function share(value: number): string {
  return percent(value / 100);
}

export const qualityCost: Subject = {
  id: "quality-cost",
  title: "Cost against what is seen, in a window of 200,000 tokens",
  about:
    "The frontier: each policy's cost as a share of never compacting, with what is missing read again (8,000 characters) and carried from then on, and what is seen before each such reading. Ours is charged at the marks it sets, the others at the end and behind their last two changes; their summarizer calls are paid. The last row of each part counts the rivals that are cheaper and show no less. Rivals that show more cost more.",
  data: "one coding session and its three parts, on which the constants of compaction were chosen.",
  rows: (figures: PromptFigures) => withHeldOut(figures, costRows),
};

function costRows({ rows }: PromptFigures): Row[] {
  return [...Map.groupBy(rows, ({ of }) => of)].flatMap(([of, sent]) => {
    const own = sent.find(({ who }) => who === "ours");
    if (own === undefined) return [];
    const rivals = sent.filter(({ who }) => !who.startsWith("ours"));
    const better = rivals.filter((one) => costOf(one) < costOf(own) && seenIn(one) >= seenIn(own));
    return [
      ...rivals.flatMap((rival) =>
        byMeasure(`${of}: ${rival.who}`, {
          cost: {
            ours: percentUp(costOf(own) / 100),
            theirs: percentUp(costOf(rival) / 100),
            ratio: times(costOf(rival) / costOf(own)),
          },
          seen: { ours: share(seenIn(own)), theirs: share(seenIn(rival)), ratio: times(seenIn(own) / seenIn(rival)) },
        }),
      ),
      { what: `${of}: rivals that are cheaper and show no less, of ${rivals.length}`, ours: whole(better.length) },
    ];
  });
}

function costOf({ cost, fetched }: Sent): number {
  return fetched ?? cost;
}

function seenIn({ seen, seenThen }: Sent): number {
  return seenThen ?? seen;
}

interface RequestFigures {
  readonly rows: readonly {
    readonly who: string;
    readonly questions: number;
    readonly inRequest: number;
    readonly afterRecall: number;
    readonly meanTokens: number;
  }[];
}

export const qualityRequest: Subject = {
  id: "quality-request",
  title: "Exact values in the request that asks for them",
  about:
    "Long histories with values that only an exact copy answers, in a window of 33,000 tokens: is the expected string in the request that asks, and after one call of `recall`?. pi's default compaction answers 48 % and OpenAI's native one 78 % of these: a model's answers as the data's authors published them, which is another measure.",
  data: "four histories with 75 questions each, generated by the data's authors; search was tuned on them.",
  rows: (figures: RequestFigures) => withHeldOut(figures, requestRows),
};

function requestRows({ rows }: RequestFigures): Row[] {
  return rows.flatMap(({ who, questions, inRequest, afterRecall, meanTokens }) =>
    byMeasure(`${who}, ${whole(questions)} questions`, {
      "in the request": { ours: whole(inRequest) },
      "after one recall": { ours: whole(afterRecall) },
      "tokens of the request": { ours: whole(meanTokens) },
    }),
  );
}
