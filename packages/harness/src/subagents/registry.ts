/** The sub-agents a parent may name: the built-ins, and those given, which may replace a built-in. */
import { BASH, GENERAL_PURPOSE, type SubagentSpec } from "./spec.ts";

export interface Registry {
  readonly names: readonly string[];
  find(name: string): SubagentSpec | undefined;
  /** One line each, for the tool's description. */
  describe(): string;
}

export function createRegistry(given: readonly SubagentSpec[] = []): Registry {
  const specs = new Map<string, SubagentSpec>();
  for (const spec of [GENERAL_PURPOSE, BASH, ...given]) {
    if (!NAME.test(spec.name)) {
      throw new RangeError(
        `a sub-agent can't be named ${JSON.stringify(spec.name)}: letters, digits, - and _, at most 64, first a letter or digit`,
      );
    }
    specs.set(spec.name, spec);
  }
  return {
    names: [...specs.keys()],
    find: (name) => specs.get(name),
    describe: () => [...specs.values()].map(({ name, description }) => `- ${name}: ${description}`).join("\n"),
  };
}

/** A name becomes part of a thread's header, as other agents' names do. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
