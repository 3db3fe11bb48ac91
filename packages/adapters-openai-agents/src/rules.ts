import { type RuleSet, rulesOf } from "@palimpsest/core/internal/message";

/** The SDK speaks to any provider: whose thoughts these are, its model knows. */
export const RULES: RuleSet = {
  name: "openai agents",
  rules: rulesOf("openai-responses").rules.filter((rule) => rule !== "reasoning-signed"),
};
