/** Pages as OpenAI has them: by the id of the last item, forwards or back. */
import type { ItemPage } from "./items.ts";
import { refusal } from "./refusals.ts";

export interface PageQuery {
  readonly after: string | null;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

const MOST = 100;
const USUAL = 20;

export function pageIn(query: URLSearchParams): PageQuery {
  const limit = Number(query.get("limit") ?? USUAL);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST) {
    const code = limit > MOST ? "integer_above_max_value" : "integer_below_min_value";
    throw refusal(400, { code, message: `Invalid 'limit': expected 1 to ${MOST}.`, param: "limit" });
  }
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc")
    throw refusal(400, {
      code: "invalid_value",
      message: "Invalid 'order': expected 'asc' or 'desc'.",
      param: "order",
    });
  return { after: query.get("after"), limit, order };
}

export function pageOf({ items, more }: ItemPage) {
  return {
    object: "list",
    data: items.map(({ item }) => item),
    first_id: items[0]?.id ?? null,
    last_id: items.at(-1)?.id ?? null,
    has_more: more,
  };
}
