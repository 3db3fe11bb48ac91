/**
 * What reaches the model, measured without one: `npm run bench -- quality prompts FILE...` for what stands in the requests
 * of a session and what they cost, `quality search FILE...` for what one search brings back, `quality request FILE...` for whether
 * the answer to a question stands in the request that asks it. Each measure is a file in `quality/` with its own usage.
 */
import { type Bench, BenchInputError } from "./bench.ts";

const MEASURES: Readonly<Record<string, () => Promise<{ readonly default: Bench }>>> = {
  prompts: () => import("./quality/prompts.ts"),
  search: () => import("./quality/search.ts"),
  request: () => import("./quality/request.ts"),
};

const bench: Bench = async ([name, ...files], options) => {
  const measure = name === undefined ? undefined : MEASURES[name];
  if (measure === undefined)
    throw new BenchInputError(`Name a measure: npm run bench -- quality ${Object.keys(MEASURES).join("|")} FILE...`);
  return (await measure()).default(files, options);
};
export default bench;
