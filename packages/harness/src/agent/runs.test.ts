import { test } from "node:test";
import { checkRuns } from "../../test/agent/runs.property.ts";

test("whatever model, tools and people do, runs end as values, requests are valid and fit, nothing is lost", () =>
  checkRuns(20));
