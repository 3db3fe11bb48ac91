// Fails if a name of ours on the registry belongs to another account. To be run before a release, logged in as the publisher.
import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/** What the registry says of a name: nobody has it, or these people. */
export type Owners = "nobody" | readonly string[];

/** Null: it is ours, or free to take. `publisher`: who would publish; null: nobody is logged in. */
export function problemWith(name: string, owners: Owners, publisher: string | null): string | null {
  if (owners === "nobody") return null;
  if (publisher !== null && owners.includes(publisher)) return null;
  const who = owners.length === 0 ? "somebody" : owners.join(", ");
  return `${name} is published by ${who}, not by ${publisher ?? "you (nobody is logged in)"}`;
}

/** From what `npm view NAME maintainers --json` printed; each is `name <address>`. */
export function ownersIn(printed: string): readonly string[] {
  const value: unknown = JSON.parse(printed);
  const list = Array.isArray(value) ? value : [value];
  return list.map((one) => String(one).replace(/ <.*$/, ""));
}

export function ownNames(root: string): readonly string[] {
  return globSync("packages/*/package.json", { cwd: root })
    .map((path) => JSON.parse(readFileSync(join(root, path), "utf8")) as { name: string; private?: boolean })
    .filter((one) => one.private !== true)
    .map(({ name }) => name);
}

async function ownersOf(name: string): Promise<Owners> {
  try {
    return ownersIn(await npm("view", name, "maintainers", "--json"));
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
    if (/E404/.test(stdout + stderr)) return "nobody";
    throw error;
  }
}

async function npm(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("npm", args, { shell: process.platform === "win32" });
  return stdout;
}

async function askAll(): Promise<void> {
  const publisher = await npm("whoami").then(
    (printed) => printed.trim(),
    () => null,
  );
  const names = ownNames(join(import.meta.dirname, ".."));
  const problems = await Promise.all(names.map(async (name) => problemWith(name, await ownersOf(name), publisher)));
  const found = problems.filter((one) => one !== null);
  console.log(found.length === 0 ? `${names.join(", ")}: ours, or free.` : found.join("\n"));
  process.exitCode = found.length === 0 ? 0 : 1;
}

if (import.meta.main) void askAll();
