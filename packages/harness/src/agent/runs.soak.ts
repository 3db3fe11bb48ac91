import { test } from "node:test";
import { checkRuns } from "../../test/agent/runs.property.ts";

test("the same over many more sequences of turns", () => checkRuns(3_000));
