/** What recall's own tools say of themselves, and the shapes that know it: what they repeat is never indexed again. */

import { withToolFacts } from "@palimpsest/core/internal/message";
import { type Dialect, type FindToolFacts, type Shape, shapeOf, type ToolFacts } from "@palimpsest/core/message";

/** They read the log, not files, and bound what they return. */
const REPEATS: ToolFacts = { act: "none", answers: "history", output: "bounded" };

export const RECALL_FACTS = { recall: REPEATS, recall_read: REPEATS } as const;

/** A log may have been written by an agent that isn't here to ask: recall's tools are known by name then. */
export function recallShape(dialect: Dialect, find: FindToolFacts = () => undefined): Shape<unknown> {
  return withToolFacts(shapeOf(dialect) as Shape<unknown>, (name) => find(name) ?? own(name));
}

function own(name: string): ToolFacts | undefined {
  return Object.hasOwn(RECALL_FACTS, name) ? RECALL_FACTS[name as keyof typeof RECALL_FACTS] : undefined;
}
