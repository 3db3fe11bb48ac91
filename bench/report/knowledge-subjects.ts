/** The page's subjects about what an agent is sent and still knows: playback, tokens, recall, memory, cost, the lab. */
import {
  byMeasure,
  type HeldOut,
  ms,
  percent,
  percentUp,
  type Row,
  type Subject,
  times,
  whole,
  withHeldOut,
} from "./write.ts";

interface Playback {
  readonly who: string;
  readonly summarizer: string;
  readonly requests: number;
  readonly violations: number;
  readonly overWindow: number;
  readonly failed: number;
  readonly hidden: number;
  readonly lost: number;
}

export const playback: Subject = {
  id: "peer-playback",
  title: "Transcripts played through summarization",
  about:
    'Real dialogs with tools in a window of 8,000 tokens, the same summarizer for all and the same trigger (85 %), the published middleware of each. "Best settings" of LangChain: an exact token count, a share of the window kept, a summarizer that may read everything. "Better settings" of DeepAgents: at 75 %, a quarter kept; it has none for an exact count. Lost, by one judge for all: at a dialog\'s end the prompt holds neither one of the message\'s names nor the beginning of one of its sentences. LangChain with its defaults loses fewer than ours: it hides less, and sends requests over the window instead. Of a failing summarizer DeepAgents hides little, because its requests fail. DeepAgents notices a request that is too long and tries again with less; it also keeps what it hides in a file.',
  data: "100 dialogs of an airline's service, which compaction was developed on.",
  rows: (figures: PlaybackFigures & HeldOut<PlaybackFigures>) =>
    figures.rows.length === 0 ? [] : withHeldOut(figures, playbackRows),
};

interface PlaybackFigures {
  readonly rows: readonly Playback[];
}

function playbackRows({ rows }: PlaybackFigures): readonly Row[] {
  return rows
    .filter(({ who }) => who !== "Palimpsest")
    .flatMap((peer) => {
      const own = rows.find(({ who, summarizer }) => who === "Palimpsest" && summarizer === peer.summarizer)!;
      const row = (value: (one: Playback) => number) => ({ ours: whole(value(own)), theirs: whole(value(peer)) });
      return byMeasure(`${peer.who}, ${peer.summarizer} summarizer, ${whole(peer.requests)} requests`, {
        "broken provider rules": row((one) => one.violations),
        "requests over the window": row((one) => one.overWindow),
        "requests that failed before they were sent": row((one) => one.failed),
        "messages hidden": row((one) => one.hidden),
        "of them lost": row((one) => one.lost),
      });
    });
}

interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

interface Anchored {
  readonly anchored: Spread;
  readonly delta: Omit<Spread, "max">;
}

interface Tokens extends Anchored {
  readonly afterChange: Spread;
  readonly charsOver4: Anchored;
  readonly answerReported: Anchored;
}

export const tokens: Subject = {
  id: "tokens",
  title: "Token count against the provider's report",
  about:
    "Error of the predicted prompt. Both sides start from the provider's last report and add what was said since: ours with its own count, theirs with characters / 4, the usual estimate; in the second kind of row theirs also takes the answer as it was reported, as ours does. Errors are rounded up.",
  data: "one coding session, which the counting was tuned on.",
  rows: (figures: Tokens & HeldOut<Tokens>) => withHeldOut(figures, tokenRows),
};

function tokenRows({ anchored, delta, afterChange, charsOver4, answerReported }: Tokens): readonly Row[] {
  const against = (said: string, theirs: Anchored): readonly Row[] => [
    {
      what: `the whole prompt, p95; ${said}`,
      ours: percentUp(anchored.p95, 2),
      theirs: percentUp(theirs.anchored.p95, 2),
      ratio: times(theirs.anchored.p95 / anchored.p95),
    },
    ...(["p50", "p95"] as const).map((part) => ({
      what: `what was added since the last report, ${part}; ${said}`,
      ours: percentUp(delta[part]),
      theirs: percentUp(theirs.delta[part]),
      ratio: times(theirs.delta[part] / delta[part]),
    })),
  ];
  return [
    ...against("characters / 4", charsOver4),
    ...against("characters / 4, the answer as reported", answerReported),
    { what: "first prompt after a compaction, p50", ours: percentUp(afterChange.p50, 2) },
    { what: "first prompt after a compaction, worst", ours: percentUp(afterChange.max) },
  ];
}

interface Recall {
  readonly at: Readonly<Record<string, number>>;
  readonly atTokens: Readonly<Record<string, number>>;
}

export const recall: Subject = {
  id: "recall",
  title: "Recall",
  about:
    'Share of the evidence turns of LoCoMo questions that a search brings back; no model. "our-terms": the peer with our stemming. mem0 stores the turns as they are; its embedding is a stand-in of hashed words. Leaving one dialog out: each dialog with the constants that are best on the other four, which says what choosing constants gained, not what choices made with all five in view did.',
  data: "five dialogs of LoCoMo, which the ranking was tuned on.",
  rows: (figures: RecallFigures) => withHeldOut(figures, recallRows),
};

interface RecallFigures extends Recall {
  readonly msP95At10000: number;
  readonly msP95: number;
  readonly leaveOneOut?: Recall;
  readonly peers: readonly (Recall & { who: string; msP95: number })[];
}

function recallRows(figures: RecallFigures): Row[] {
  const { leaveOneOut } = figures;
  const share = (ours: number, theirs: number) => ({
    ours: percent(ours),
    theirs: percent(theirs),
    ratio: times(ours / theirs),
  });
  const rows = figures.peers.flatMap((peer) =>
    byMeasure(peer.who, {
      "first 10 hits": share(figures.at["10"]!, peer.at["10"]!),
      "within 2,000 tokens": share(figures.atTokens["2000"]!, peer.atTokens["2000"]!),
      "time of a search, p95": {
        ours: ms(figures.msP95),
        theirs: ms(peer.msP95),
        ratio: times(peer.msP95 / figures.msP95),
      },
    }),
  );
  const alone = byMeasure("peers not installed", {
    ...ownShares(figures),
    "time of a search, p95": { ours: ms(figures.msP95) },
  });
  return [
    ...(rows.length > 0 ? rows : alone),
    ...(leaveOneOut ? byMeasure("leaving one dialog out", ownShares(leaveOneOut)) : []),
    { what: "one search over 10,000 turns, p95", ours: ms(figures.msP95At10000) },
  ];
}

function ownShares({ at, atTokens }: Recall) {
  return {
    "first 10 hits": { ours: percent(at["10"]!) },
    "within 2,000 tokens": { ours: percent(atTokens["2000"]!) },
  };
}

export const recallWithFacts: Subject = {
  id: "recall-facts",
  title: "Recall with facts as extra keys",
  about: "The same, with turns also indexed under the dataset's own facts.",
  data: "five dialogs of LoCoMo, which the ranking was tuned on; the facts are a language model's, from the dataset.",
  rows: (figures: Recall) => withHeldOut(figures, (one: Recall) => byMeasure("with facts", ownShares(one))),
};

export const memory: Subject = {
  id: "memory",
  title: "Memory's lanes",
  about:
    "Share of the evidence of LoCoMo questions that memory puts beside a question, with the dataset's own facts as its facts; and how long that takes.",
  data: "five dialogs of LoCoMo, which the ranking was tuned on; the facts are a language model's, from the dataset.",
  rows(figures: {
    atTokens: Readonly<Record<string, number>>;
    both: Readonly<Record<string, number>>;
    stable: { share: number; tokens: number };
    large: { turns: number; facts: number; msP50: number; msP95: number };
  }) {
    const { atTokens, both, stable, large } = figures;
    return [
      ...byMeasure("chosen for the question", {
        "within 1,000 tokens": { ours: percent(atTokens["1000"]!) },
        "within 2,000 tokens": { ours: percent(atTokens["2000"]!) },
      }),
      ...byMeasure("the stable lane alone: the same 15 facts beside every question", {
        evidence: { ours: percent(stable.share) },
        tokens: { ours: whole(stable.tokens) },
      }),
      { what: "both lanes within 2,000 tokens", ours: percent(both["2000"]!) },
      ...byMeasure(`injection into one request, ${whole(large.facts)} facts and ${whole(large.turns)} turns`, {
        p50: { ours: ms(large.msP50) },
        p95: { ours: ms(large.msP95) },
      }),
    ];
  },
};

interface Policy {
  readonly name: string;
  readonly cost: number;
  readonly known: number;
  readonly strict: number;
  readonly lines: number;
  readonly peak: number;
  readonly over: number;
}

interface CostFigures {
  readonly policies: readonly Policy[];
  readonly segments: readonly { readonly name: string; readonly policies: readonly Policy[] }[];
}

export const cost: Subject = {
  id: "cost",
  title: "Cost of a coding session",
  about:
    "With Anthropic's prompt cache as it is documented (entries only at marks, five minutes), as a share of never pruning; what is missing is fetched again and paid. Visible: what the model used again after more than 20 messages and still had word for word in the prompt, before any fetch: paths, identifiers and lines; strictly visible: what our stubs say doesn't count; lines alone. The judge shares no code with the pruner. Ours stands at its defaults, rivals at the best of 18 settings, which flatters them; others' policies by their documented rules. The parts fitted a window of 200,000 tokens; the whole doesn't, so never pruning it is arithmetic only.",
  data: "one coding session. Settings were swept on its first part, but all three and the whole were looked at while choosing: none of it is held out.",
  rows: (figures: CostFigures & HeldOut<CostFigures>) => withHeldOut(figures, costRows),
};

function costRows({ policies, segments }: CostFigures): readonly Row[] {
  const parts = segments.map((part, index) => ({ ...part, name: `part ${index + 1}` }));
  return [...parts, { name: segments.length > 0 ? "the whole" : "the session", policies }].flatMap(costRowsOf);
}

function costRowsOf({ name, policies }: { readonly name: string; readonly policies: readonly Policy[] }): Row[] {
  const own = policies.find((one) => one.name === "ours")!;
  const never = policies.find((one) => one.name === "never-prune")!;
  const rivals = policies.filter((one) => !one.name.startsWith("ours") && one !== never);
  const late = rivals.find((one) => one.name.startsWith("summarize at 85 %") && one.name.endsWith("prefix"));
  const row = (what: string, rival: Policy | undefined): Row[] => {
    if (rival === undefined) return [{ what: `${name}: ${what}: none`, ours: percentUp(own.cost, 0) }];
    const named = rival === late && what.startsWith("summarize") ? "" : ` (${rival.name})`;
    const share = (value: (one: Policy) => number) => ({
      ours: percent(value(own), 0),
      theirs: percent(value(rival), 0),
    });
    return byMeasure(`${name}: ${what}${named}`, {
      cost: { ours: percentUp(own.cost, 0), theirs: percentUp(rival.cost, 0), ratio: times(rival.cost / own.cost) },
      visible: share(({ known }) => known),
      "strictly visible": share(({ strict }) => strict),
      "visible lines": share(({ lines }) => lines),
    });
  };
  const cheapest = (known: number): Policy | undefined =>
    rivals.filter((one) => one.known >= known && one.over === 0).sort((one, other) => one.cost - other.cost)[0];
  return [
    ...row("the cheapest rival that shows as much and fits the window", cheapest(own.known)),
    ...row("summarize at 85 % on the cached prefix", late),
    ...row("the cheapest rival that shows 80 % and fits the window", cheapest(0.8)),
    { what: `${name}: requests over the window, never pruning`, ours: whole(own.over), theirs: whole(never.over) },
  ];
}

interface LabPolicy {
  readonly name: string;
  readonly cost: number;
  readonly known: number;
  readonly evidence: number | null;
  readonly evidenceWithRecall: number | null;
  readonly overWindow: number;
}

export const lab: Subject = {
  id: "lab",
  title: "The lab",
  about:
    "A coding session and 100 dialogs with tools under every built-in policy, a window of 200,000 tokens: cost with the provider's prompt cache as a share of doing nothing, and what the agent used again and still had (visible). First what fits the window, by what it shows; last what could not have been sent. Others' policies by their documented rules; summarizing at seven thresholds, the best of which is flattered, ours at its defaults. Here what was fetched again counts as had from then on, which is why these shares are above those of the table before.",
  data: "the session and the dialogs that pruning and compaction were tuned on; none of it is held out.",
  rows({ policies, seconds }: { policies: readonly LabPolicy[]; seconds: number }) {
    const own = policies.find(({ name }) => name === "ours")!;
    const rivals = policies.filter((one) => one !== own);
    return [
      ...likeForLike(rivals, ({ known }) => known).flatMap((one) =>
        byMeasure(one.name, {
          cost: { ours: percentUp(own.cost, 0), theirs: percentUp(one.cost, 0), ratio: times(one.cost / own.cost) },
          visible: { ours: percent(own.known, 0), theirs: percent(one.known, 0), ratio: times(own.known / one.known) },
          "requests over the window": { ours: whole(own.overWindow), theirs: whole(one.overWindow) },
        }),
      ),
      { what: "the whole replay", ours: `${whole(seconds)} s` },
    ];
  },
};

/** What fits the window comes first, and of that what shows most. */
function likeForLike(policies: readonly LabPolicy[], shown: (one: LabPolicy) => number): readonly LabPolicy[] {
  const [fitting, over] = [true, false].map((fits) => policies.filter(({ overWindow }) => (overWindow === 0) === fits));
  return [...fitting!.toSorted((one, other) => shown(other) - shown(one)), ...over!];
}

export const labQuestions: Subject = {
  id: "lab-questions",
  title: "The lab, with questions",
  about:
    "LoCoMo's dialogs in a window of 8,000 tokens: share of the questions' evidence that the last prompt still holds word for word; and with the first five hits of a search, which any of them could have. First what fits the window, by what it holds; summarizing stands at eight settings, ours at its defaults.",
  data: "five dialogs of LoCoMo; compaction was not tuned on them, search was.",
  rows({ policies }: { policies: readonly LabPolicy[] }) {
    const own = policies.find(({ name }) => name === "ours")!;
    const rivals = policies.filter((one) => one !== own);
    const share = (one: LabPolicy, value: (one: LabPolicy) => number | null) => ({
      ours: percent(value(own) ?? 0),
      theirs: percent(value(one) ?? 0),
      ratio: times((value(own) ?? 0) / (value(one) || 1)),
    });
    return likeForLike(rivals, ({ evidence }) => evidence ?? 0).flatMap((one) =>
      byMeasure(one.name, {
        "in the last prompt": share(one, ({ evidence }) => evidence),
        "with the first five hits": share(one, ({ evidenceWithRecall }) => evidenceWithRecall),
        "requests over the window": { ours: whole(own.overWindow), theirs: whole(one.overWindow) },
      }),
    );
  },
};
