/**
 * The lab's table for files: `npm run bench -- lab FILE... [--window N] [--json]`. The built-in policies, as `palimpsest
 * lab` plays them, and summarizing at other thresholds on the cached prefix, so that it stands at its best; with the time
 * it took.
 */
import { basename } from "node:path";
import { builtInPolicies, type Policy, readTranscripts, runLab } from "@palimpsest/lab";
import { summarizeAt } from "../packages/lab/src/replay/policies.ts";
import { type Bench, BenchInputError, readData } from "./bench.ts";

const USAGE = "lab FILE... [--window N]";

const lab: Bench = async (paths, options) => {
  if (paths.length === 0) throw new BenchInputError(`This bench needs transcripts: npm run bench -- ${USAGE}`);
  const window = Number(options["window"] ?? 200_000);
  const read = paths.map((path) => readTranscripts(basename(path), Buffer.from(readData(path, USAGE))));
  const transcripts = (await Promise.all(read)).flatMap((file) => file.transcripts);
  const start = performance.now();
  const policies = [...builtInPolicies(window), ...SHARES.map((share) => summarizeEarlier(window, share))];
  const report = await runLab({ transcripts, policies, window });
  const seconds = (performance.now() - start) / 1000;
  const rows = report.policies.map(({ timelines: _, ...row }) => row);
  return { window, transcripts: transcripts.length, seconds, policies: rows };
};

const SHARES = [0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.85];

function summarizeEarlier(window: number, share: number): Policy {
  const name = `summarize at ${Math.round(share * 100)} % on the cached prefix`;
  return { ...summarizeAt(window, share, 6, "cached-prefix"), name };
}

export default lab;
