/**
 * Older configuration files, brought to the present version one step at a time. A newer one is refused: guessing what
 * its keys mean would be worse than stopping.
 */
import { CONFIG_VERSION } from "./schema.ts";

export type Upgraded =
  | { readonly kind: "current"; readonly value: Record<string, unknown>; readonly warnings: readonly string[] }
  | { readonly kind: "refused"; readonly problem: string };

interface Step {
  readonly from: number;
  readonly change: (value: Record<string, unknown>) => Record<string, unknown>;
}

/** Version 0 is a file from before versions: the storage class had its Python name. The values are the same. */
const STEPS: readonly Step[] = [{ from: 0, change: (value) => value }];

export function upgradeConfig(value: Record<string, unknown>): Upgraded {
  const stated = value["config_version"];
  const version = stated === undefined ? CONFIG_VERSION : Number(stated);
  if (!Number.isInteger(version) || version < 0) {
    return {
      kind: "refused",
      problem: `config_version is ${JSON.stringify(stated)}: it must be a whole number, now ${CONFIG_VERSION}`,
    };
  }
  if (version > CONFIG_VERSION) {
    return {
      kind: "refused",
      problem: `config_version is ${version}, newer than the ${CONFIG_VERSION} this palimpsest knows: upgrade palimpsest, or use a file of version ${CONFIG_VERSION}`,
    };
  }
  const upgraded = STEPS.filter((step) => step.from >= version).reduce((old, step) => step.change(old), value);
  const warnings =
    version < CONFIG_VERSION
      ? [`config_version ${version} was read as ${CONFIG_VERSION}; \`palimpsest config upgrade\` rewrites the file`]
      : [];
  return { kind: "current", value: { ...upgraded, config_version: CONFIG_VERSION }, warnings };
}
