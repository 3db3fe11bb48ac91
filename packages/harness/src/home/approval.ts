/** Which tools a configuration has a person asked about. A name that no tool has is told: it would protect nothing. */
import type { AgentOptions } from "../agent/create-agent.ts";
import type { Middleware } from "../agent/middleware.ts";
import { nearest } from "../nearest.ts";
import type { ConfiguredAgentOptions } from "./from-config.ts";
import type { ConfigFile } from "./schema.ts";

type Asking = Pick<ConfiguredAgentOptions, "approved" | "asked" | "onWarning" | "middleware">;

export function approvalOf(
  { approval }: ConfigFile,
  { approved = new Set(), asked = [], onWarning = () => {}, middleware = [] }: Asking,
): Pick<AgentOptions, "toolApproval" | "middleware"> {
  const tools = [...approval.tools, ...asked];
  if (tools.length === 0) return { middleware };
  const statusOf = (name: string) => () => (approved.has(name) ? ("approved" as const) : ("user-approval" as const));
  return {
    toolApproval: Object.fromEntries(tools.map((name) => [name, statusOf(name)])),
    middleware: [...middleware, namesChecked(approval.tools, onWarning)],
  };
}

/** Which tools there are shows only in a run: some come with skills, or with what the model can do. */
function namesChecked(names: readonly string[], warn: (text: string) => void): Middleware {
  let checked = false;
  return {
    name: "approval-names",
    wrapModel(request, next) {
      const known = Object.keys(request.tools);
      for (const name of checked ? [] : names) {
        if (known.includes(name)) continue;
        const meant = nearest(name, known);
        const advice = meant === null ? `there are ${known.join(", ")}` : `did you mean ${meant}?`;
        warn(`approval.tools names ${JSON.stringify(name)}, which no tool is called: ${advice}`);
      }
      checked = true;
      return next(request);
    },
  };
}
