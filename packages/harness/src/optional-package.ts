/**
 * Packages that only some programs need. They are peers that may be absent: each is loaded in one place, at its first
 * use, and a program without it is told what to install.
 */
import { PalimpsestError } from "@palimpsest/core/errors";

export type OptionalPackage = keyof typeof OPTIONAL_PACKAGES;

export const OPTIONAL_PACKAGES = {
  "@ai-sdk/anthropic": { version: "4", use: "A model of the provider anthropic" },
  "@ai-sdk/google": { version: "4", use: "A model of the provider google" },
  "@ai-sdk/openai": { version: "4", use: "A model of the provider openai" },
  "@ai-sdk/openai-compatible": { version: "3", use: "A model of the provider openai-compatible" },
  "just-bash": { version: "3", use: "The sandboxed shell behind `bash`" },
  pg: { version: "8", use: "A PostgreSQL store" },
} as const;

/** `load` holds the `import()`, so that bundlers see it. */
export async function loadOptional<T>(name: OptionalPackage, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw isMissing(name, error) ? missingPackage(name, error) : error;
  }
}

export function missingPackage(name: OptionalPackage, cause: unknown): PalimpsestError<"missing-package"> {
  const { version, use } = OPTIONAL_PACKAGES[name];
  const advice = `npm install ${name}@${version}`;
  return new PalimpsestError("missing-package", `${use} needs the package ${name}, which is not installed: ${advice}`, {
    cause,
  });
}

/** Whether this package itself could not be found; one that another lacks is another error. */
export function isMissing(name: OptionalPackage, error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return false;
  // Node and Bun say 'pg', Deno "pg" or pg@8.
  return typeof message === "string" && new RegExp(`(?:package|module) ['"]?${name}['"@]`, "i").test(message);
}
