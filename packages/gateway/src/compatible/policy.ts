/** What a request asks of the gateway beside its answer: by its headers, else by the configuration. Pure. */
import type { ConfigFile } from "palimpsest/home";
import { checkScope } from "palimpsest/internal/memory";
import { ProblemError } from "../http/problem.ts";

const MODES = ["on", "observe", "off"] as const;
const COMPACTIONS = ["ours", "native", "off"] as const;
const SWITCH = ["on", "off"] as const;

export interface Policy {
  readonly mode: (typeof MODES)[number];
  /** Who makes a prompt shorter that gets too long: this gateway, the vendor by parameters of its own, nobody. */
  readonly compaction: (typeof COMPACTIONS)[number];
  /** Whether hidden turns that matter are shown with the question. */
  readonly evidence: (typeof SWITCH)[number];
  /** The same for what is remembered of the user, and whether more is learned. */
  readonly memory: (typeof SWITCH)[number];
  /** Whose memory it is. */
  readonly agentName: string;
}

/** Throws what a client is told of a header that can't be meant. */
export function policyOf(headers: Headers, { gateway }: Pick<ConfigFile, "gateway">, userId: string): Policy {
  const agentName = headers.get("x-palimpsest-agent") ?? "default";
  const scope = checkScope(userId, agentName);
  if (scope.kind === "invalid") throw new ProblemError(400, "invalid", `X-Palimpsest-Agent: ${scope.problem}`);
  return {
    mode: chosen(headers, "Mode", MODES) ?? gateway.mode,
    compaction: chosen(headers, "Compaction", COMPACTIONS) ?? gateway.compaction,
    evidence: gateway.evidence ? "on" : "off",
    memory: chosen(headers, "Memory", SWITCH) ?? (gateway.memory ? "on" : "off"),
    agentName: scope.scope.agentName ?? "default",
  };
}

function chosen<T extends string>(headers: Headers, name: string, values: readonly T[]): T | null {
  const asked = headers.get(`x-palimpsest-${name.toLowerCase()}`);
  if (asked === null) return null;
  const value = values.find((one) => one === asked);
  if (value !== undefined) return value;
  throw new ProblemError(
    400,
    "invalid",
    `X-Palimpsest-${name} is ${values.slice(0, -1).join(", ")} or ${values.at(-1)}`,
  );
}

/** Whether what was said before is looked up for its question. */
export function looksUp({ mode, evidence, memory }: Pick<Policy, "mode" | "evidence" | "memory">): boolean {
  return mode === "on" && (evidence === "on" || memory === "on");
}

export interface LengthRule {
  /** `fit`: a prompt that is too long is made shorter here. `pass`: it goes on as long as it is. */
  readonly ours: "fit" | "pass";
  /** The vendor's own parameters to the same end: carried out here, or left in the request for the vendor. */
  readonly vendors: "serve" | "leave";
}

/** Two that shorten one prompt break each other's work: it is one of them, or none. */
export function lengthRule({ mode, compaction }: Pick<Policy, "mode" | "compaction">): LengthRule {
  return mode === "on" && compaction === "ours"
    ? { ours: "fit", vendors: "serve" }
    : { ours: "pass", vendors: "leave" };
}

/** What became of the log's messages: some are hidden, words were erased, evidence was added to a question. */
export interface ViewChanges {
  readonly hidden: boolean;
  readonly erased: boolean;
  readonly added: boolean;
}

/** Whose messages are sent. Erased words stay erased and added ones stay added, whoever compacts. */
export function isViewSent(
  policy: Pick<Policy, "mode" | "compaction">,
  { hidden, erased, added }: ViewChanges,
): boolean {
  if (policy.mode !== "on") return false;
  return erased || added || (hidden && lengthRule(policy).ours === "fit");
}
