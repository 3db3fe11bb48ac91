/**
 * Packages that only some programs need. They are peers that may be absent: each is imported in one place, at its first
 * use, inside of a `try`, which makes an absent one a warning to bundlers; the program that runs is told what to install.
 */
import { PalimpsestError } from "@palimpsest/core/internal/errors";

export const OPTIONAL_PACKAGES: readonly OptionalPackage[] = [
  { name: "@ai-sdk/anthropic", version: "4", use: "A model of the provider anthropic" },
  { name: "@ai-sdk/google", version: "4", use: "A model of the provider google" },
  { name: "@ai-sdk/openai", version: "4", use: "A model of the provider openai" },
  { name: "@ai-sdk/openai-compatible", version: "3", use: "A model of the provider openai-compatible" },
  { name: "@modelcontextprotocol/client", version: "2", use: "A server in mcp_servers" },
  { name: "just-bash", version: "3", use: "The sandboxed shell behind `bash`" },
  { name: "pg", version: "8", use: "A PostgreSQL store" },
];

interface OptionalPackage {
  readonly name: string;
  readonly version: string;
  readonly use: string;
  /** What to install where it is more than the package itself. */
  readonly install?: string;
}

/** The error as it is, unless it says that one of these packages could not be found. */
export function explainMissing(error: unknown, packages = OPTIONAL_PACKAGES): unknown {
  if (!isModuleNotFound(error)) return error;
  // Node, Bun and webpack say 'pg', Deno "pg". A package that another one lacks is another error.
  const name = /(?:package|module) ['"]([^'"]+)['"]/i.exec(error.message)?.[1];
  const missing = packages.find((one) => one.name === name);
  if (missing === undefined) return error;
  return new PalimpsestError(
    "missing-package",
    `${missing.use} needs the package ${name}, which is not installed: npm install ${missing.install ?? `${name}@${missing.version}`}`,
    { cause: error },
  );
}

export function isModuleNotFound(error: unknown): error is Error {
  const code = error instanceof Error && (error as { code?: unknown }).code;
  return code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
}
