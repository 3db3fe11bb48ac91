/**
 * What a gateway counts. Labels are names of routes, codes, rungs and store operations: never a user, a thread or a key, so
 * that the numbers say nothing about a person, and their count is bounded.
 */
import type { AgentEvent } from "palimpsest";
import type { Usage } from "palimpsest/internal/models";

/** What a request tells of its work; tokens also go on its key's account. */
export interface RequestMeter {
  /** For `onEvent` of an agent: its runs, tokens and compactions are read from it. */
  event(event: AgentEvent): void;
  /** What one call to a model took, where no agent tells it. */
  tokens(usage: Usage): void;
  /** Tokens that no provider has reported: they count for the limits of the key, and for nothing else. */
  estimated(tokens: number): void;
  /** What a request to a compatible endpoint saved, or would have saved. */
  saving(saved: { readonly mode: string; readonly tokens: number; readonly cost: number | null }): void;
  compaction(done: { readonly rung: string; readonly tokensBefore: number; readonly tokensAfter: number }): void;
}

export interface Metrics {
  request(done: {
    readonly route: string;
    readonly method: string;
    readonly status: number;
    readonly ms: number;
  }): void;
  /** Of an answer on a compatible endpoint. */
  firstByte(route: string, ms: number): void;
  store(operation: string, seconds: number): void;
  /** The store could not be written, or was silent. */
  storeFailed(code: string): void;
  /** `spend`: also told the tokens, in and out. */
  meter(spend: (tokens: number) => void): RequestMeter;
  /** Threads that were deleted because of their age. */
  swept(threads: number | "failed"): void;
  /** What waits, by the name of its queue, read for each `/metrics`. One that can't be read is left out. */
  queue(name: string, length: () => number | Promise<number>): void;
  /** Records that the search indexes under construction lack, read for each `/metrics`. */
  unindexed(records: () => Promise<number>): void;
  text(): Promise<string>;
}

const FIRST_BYTE = "On /v1, until the first byte of the answer that is no comment: of a stream, about its first token.";
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** `open`: how many requests are under way. */
export function createMetrics(open: () => number): Metrics {
  const registry = createRegistry();
  const requests = registry.counter("palimpsest_requests_total", "Requests answered, by route and status.");
  const times = registry.histogram(
    "palimpsest_request_seconds",
    "Until the answer's headers, by route; on /v1 until its end.",
    SECONDS,
  );
  const firstBytes = registry.histogram("palimpsest_first_byte_seconds", FIRST_BYTE, SECONDS);
  registry.gauge("palimpsest_requests_open", "Requests under way.", () => [[open()]]);
  const meter = modelCounters(registry);
  const queue = queueLengths(registry);
  const sweeps = registry.counter("palimpsest_retention_threads_total", "Threads deleted because of their age.");
  const sweepFailures = registry.counter("palimpsest_retention_failures_total", "Sweeps of old threads that failed.");
  const storeFailures = registry.counter("palimpsest_store_failures_total", "Failures of the store, by code.");
  const store = registry.histogram("palimpsest_store_seconds", "Operations of the store.", SECONDS);
  return {
    request({ route, method, status, ms }) {
      requests.add(1, { route, method, status: String(status) });
      times.observe(ms / 1000, { route, method });
    },
    firstByte: (route, ms) => firstBytes.observe(ms / 1000, { route }),
    swept: (threads) => (threads === "failed" ? sweepFailures.add(1) : sweeps.add(threads)),
    store: (operation, seconds) => store.observe(seconds, { operation }),
    storeFailed: (code) => storeFailures.add(1, { code }),
    queue,
    unindexed: (records) =>
      registry.gauge("palimpsest_index_missing_records", "Records that indexes lack which are being built.", () =>
        records().then(
          (missing): Sample[] => [[missing]],
          () => [],
        ),
      ),
    meter,
    text: () => registry.text(),
  };
}

function modelCounters(registry: MetricRegistry): Metrics["meter"] {
  const runs = registry.counter("palimpsest_runs_total", "Runs of agents, by how they ended.");
  const tokens = registry.counter("palimpsest_tokens_total", "Tokens of models, in and out, as providers report them.");
  const cached = registry.counter("palimpsest_cached_tokens_total", "Tokens of prompts that a provider's cache had.");
  const input = { sum: 0, cached: 0 };
  registry.gauge("palimpsest_cache_share", "Share of all prompt tokens that a provider's cache had.", () =>
    input.sum === 0 ? [] : [[input.cached / input.sum]],
  );
  const compactions = registry.counter("palimpsest_compactions_total", "Compactions, by rung.");
  const saved = registry.counter("palimpsest_saved_tokens_total", "Tokens that compactions took out of prompts.");
  const requestTokens = registry.counter(
    "palimpsest_request_saved_tokens_total",
    "Tokens that requests to the compatible endpoints left out; in mode observe: would have left out.",
  );
  const requestCost = registry.counter(
    "palimpsest_request_saved_cost_total",
    "The same in money, where prices are known.",
  );
  const spent = (usage: Usage): number => {
    tokens.add(usage.input, { direction: "in" });
    tokens.add(usage.output, { direction: "out" });
    cached.add(usage.cacheRead);
    input.sum += usage.input;
    input.cached += usage.cacheRead;
    return usage.input + usage.output;
  };
  const compaction: RequestMeter["compaction"] = ({ rung, tokensBefore, tokensAfter }) => {
    compactions.add(1, { rung });
    saved.add(Math.max(0, tokensBefore - tokensAfter));
  };
  return (spend) => ({
    event(event) {
      if (event.type === "run-end") runs.add(1, { end: event.end.kind });
      if (event.type === "step-end" && event.usage !== null) spend(spent(event.usage));
      if (event.type === "summary-usage") spend(spent(event));
      if (event.type === "compaction-end" && event.outcome.kind === "compacted") compaction(event.outcome);
    },
    tokens: (usage) => spend(spent(usage)),
    estimated: spend,
    saving({ mode, tokens: left, cost }) {
      requestTokens.add(left, { mode });
      if (cost !== null) requestCost.add(cost, { mode, currency: "USD" });
    },
    compaction,
  });
}

function queueLengths(registry: MetricRegistry): Metrics["queue"] {
  const queues = new Map<string, () => number | Promise<number>>();
  registry.gauge("palimpsest_queue_length", "What waits, by queue.", async () => {
    const samples: Sample[] = [];
    for (const [queue, length] of queues) {
      const waiting = await (async () => length())().catch(() => null);
      if (waiting !== null) samples.push([waiting, { queue }]);
    }
    return samples;
  });
  return (name, length) => void queues.set(name, length);
}

/* Counters, gauges and histograms as the Prometheus text format writes them. Knows nothing of what is counted. */

type Labels = Readonly<Record<string, string>>;

interface Counter {
  add(amount: number, labels?: Labels): void;
}

interface Histogram {
  observe(value: number, labels?: Labels): void;
}

export interface MetricRegistry {
  counter(name: string, help: string): Counter;
  /** Read for each `text()`. */
  gauge(name: string, help: string, read: () => Samples | Promise<Samples>): void;
  histogram(name: string, help: string, bounds: readonly number[]): Histogram;
  text(): Promise<string>;
}

type Samples = Iterable<Sample>;

type Sample = readonly [value: number, labels?: Labels];

export const TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export function createRegistry(): MetricRegistry {
  const blocks: (() => Promise<string[]>)[] = [];
  const block = (kind: string, name: string, help: string, lines: () => string[] | Promise<string[]>) =>
    blocks.push(async () => [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`, ...(await lines())]);
  return {
    counter(name, help) {
      const sums = new Map<string, number>();
      block("counter", name, help, () => [...sums].map(([labels, sum]) => `${name}${labels} ${sum}`));
      return { add: (amount, labels) => add(sums, written(labels), amount) };
    },
    gauge(name, help, read) {
      block("gauge", name, help, async () =>
        [...(await read())].map(([value, labels]) => `${name}${written(labels)} ${value}`),
      );
    },
    histogram(name, help, bounds) {
      const series = new Map<string, Series>();
      block("histogram", name, help, () => [...series.values()].flatMap((one) => histogramLines(name, bounds, one)));
      return {
        observe(value, labels = {}) {
          const key = written(labels);
          const one = series.get(key) ?? { labels, counts: bounds.map(() => 0), sum: 0, count: 0 };
          series.set(key, one);
          const at = bounds.findIndex((bound) => value <= bound);
          if (at !== -1) one.counts[at] = one.counts[at]! + 1;
          one.sum += value;
          one.count += 1;
        },
      };
    },
    text: async () => `${(await Promise.all(blocks.map((lines) => lines()))).flat().join("\n")}\n`,
  };
}

interface Series {
  readonly labels: Labels;
  /** Of each bound, what came between it and the one before. */
  readonly counts: number[];
  sum: number;
  count: number;
}

function histogramLines(name: string, bounds: readonly number[], { labels, counts, sum, count }: Series): string[] {
  let below = 0;
  const lines = bounds.map((bound, index) => {
    below += counts[index]!;
    return `${name}_bucket${written({ ...labels, le: String(bound) })} ${below}`;
  });
  const shown = written(labels);
  const infinite = written({ ...labels, le: "+Inf" });
  return [
    ...lines,
    `${name}_bucket${infinite} ${count}`,
    `${name}_sum${shown} ${sum}`,
    `${name}_count${shown} ${count}`,
  ];
}

function add(sums: Map<string, number>, key: string, amount: number): void {
  sums.set(key, (sums.get(key) ?? 0) + amount);
}

function written(labels: Labels = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
