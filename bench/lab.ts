/**
 * The lab's table for files, every built-in policy: `npm run bench -- lab FILE... [--window N] [--json]`. The same as
 * `palimpsest lab`, with the time it took.
 */
import { basename } from "node:path";
import { builtInPolicies, readTranscripts, runLab } from "palimpsest/lab";
import { type Bench, BenchInputError, readData } from "./bench.ts";

const USAGE = "lab FILE... [--window N]";

const lab: Bench = async (paths, options) => {
  if (paths.length === 0) throw new BenchInputError(`This bench needs transcripts: npm run bench -- ${USAGE}`);
  const window = Number(options["window"] ?? 200_000);
  const read = paths.map((path) => readTranscripts(basename(path), Buffer.from(readData(path, USAGE))));
  const transcripts = (await Promise.all(read)).flatMap((file) => file.transcripts);
  const start = performance.now();
  const report = await runLab({ transcripts, policies: builtInPolicies(window), window });
  const seconds = (performance.now() - start) / 1000;
  const policies = report.policies.map(({ timelines: _, ...row }) => row);
  return { window, transcripts: transcripts.length, seconds, policies };
};

export default lab;
