/** The runtimes that the packed packages are tried on. Each comes as a binary inside a package of its registry. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeProject } from "./workbench.ts";

export interface Runtime {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
}

const { platform, arch } = process;
const libc = platform === "linux" ? "-glibc" : "";
const denoArch = arch === "arm64" ? "arm64" : "x64";

const OTHERS = [
  { name: "Node 22.18", from: `node-${platform}-${arch}`, version: "22.18.0", binary: "bin/node", args: [] },
  { name: "Bun", from: `@oven/bun-${platform}-${arch}`, version: "1.4.4", binary: "bin/bun", args: [] },
  {
    name: "Deno",
    from: `@deno/${platform}-${denoArch}${libc}`,
    version: "2.9.6",
    binary: "deno",
    args: ["run", "--allow-all"],
  },
] as const;

export const RUNTIME_NAMES = ["Node 24", ...OTHERS.map(({ name }) => name)];

/** Null: it can't be had on this machine. */
export async function fetchRuntime(name: string, folder: string): Promise<Runtime | null> {
  const wanted = OTHERS.find((one) => one.name === name);
  if (wanted === undefined) return { name, file: process.execPath, args: [] };
  const project = join(folder, name.replaceAll(" ", "-"));
  await makeProject(project, [`${wanted.from}@${wanted.version}`]).catch(() => {});
  const file = join(project, "node_modules", wanted.from, wanted.binary);
  return existsSync(file) ? { name, file, args: wanted.args } : null;
}
