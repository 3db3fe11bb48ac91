/**
 * Whose memory it is: a user and, for a custom agent, that agent. Every access names its scope: there is no way to touch
 * more than one [F38] [F59].
 */
import { isAbsolute, join } from "node:path";
import { checkUser, DEFAULT_USER } from "@palimpsest/core/log";
import { userFolder } from "../home-folders.ts";

export interface MemoryScope {
  readonly userId: string;
  /** Null: the user's own memory, which every agent without one of its own reads. */
  readonly agentName: string | null;
}

/** A scope as people name it: without an agent it is the user's own memory. */
export interface ScopeName {
  readonly userId: string;
  readonly agentName?: string | null;
}

const DEFAULT_AGENT = "default";

export type ScopeCheck =
  | { readonly kind: "scope"; readonly scope: MemoryScope }
  | { readonly kind: "invalid"; readonly problem: string };

/** Any user, as it is; an agent is a name of ours, in lower case. The default agent has no memory of its own. */
export function checkScope(userId: string, agentName?: string | null): ScopeCheck {
  const checked = checkUser(userId);
  if (checked.kind === "invalid") return checked;
  const name = agentName ?? DEFAULT_AGENT;
  const problem = nameProblem(name);
  if (problem !== null) return { kind: "invalid", problem: `the agent name ${JSON.stringify(name)} ${problem}` };
  const named = name.toLowerCase();
  return { kind: "scope", scope: { userId, agentName: named === DEFAULT_AGENT ? null : named } };
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/i;

function nameProblem(name: string): string | null {
  if (name === "") return "is empty: give it a letter or digit at least";
  if (name.length > 64) return `has ${name.length} characters, at most 64 are allowed`;
  if (!NAME.test(name)) return "may hold letters, digits, - and _ only, and begins with a letter or digit";
  return DEVICE.test(name) ? "is the name of a device on some systems: choose another" : null;
}

export interface MemoryPlace {
  readonly base: string;
  /** The default user's own file: absolute as is, relative under the base. */
  readonly storagePath: string;
}

export function memoryPath({ userId, agentName }: MemoryScope, { base, storagePath }: MemoryPlace): string {
  const root = userFolder(base, userId);
  if (agentName !== null) return join(root, "agents", agentName, "memory.json");
  if (userId !== DEFAULT_USER) return join(root, "memory.json");
  return isAbsolute(storagePath) ? storagePath : join(base, storagePath);
}
