/** Counters, gauges and histograms as the Prometheus text format writes them. Knows nothing of what is counted. */

type Labels = Readonly<Record<string, string>>;

interface Counter {
  add(amount: number, labels?: Labels): void;
}

interface Histogram {
  observe(value: number, labels?: Labels): void;
}

export interface Registry {
  counter(name: string, help: string): Counter;
  /** Read when somebody asks. */
  gauge(name: string, help: string, read: () => Samples | Promise<Samples>): void;
  histogram(name: string, help: string, bounds: readonly number[]): Histogram;
  text(): Promise<string>;
}

type Samples = Iterable<Sample>;

export type Sample = readonly [value: number, labels?: Labels];

export const TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export function createRegistry(): Registry {
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
