/**
 * Chromium for tests, from npm alone: @sparticuz/chromium carries the binary and the libraries that a bare system lacks. They
 * are unpacked once, into `node_modules/.cache`, and stay there. Where the binary can't run, the reason is told instead.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inflate } from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";

export type Launched =
  | { readonly kind: "running"; readonly browser: Browser }
  /** Why there is none here. */
  | { readonly kind: "cannot-run"; readonly reason: string };

export async function launchChromium(): Promise<Launched> {
  const { platform, arch } = process;
  if (platform !== "linux" || arch !== "x64")
    return { kind: "cannot-run", reason: `the browser is built for Linux on x64, and this is ${platform} on ${arch}` };
  const folder = await unpacked();
  const browser = await chromium.launch({
    executablePath: join(folder, "chromium"),
    // Root may have no sandbox of Chromium's own; the pages are ours.
    args: ["--no-sandbox", "--no-zygote", "--disable-gpu", "--font-render-hinting=none"],
    env: { ...process.env, LD_LIBRARY_PATH: join(folder, "al2023", "lib") },
  });
  return { kind: "running", browser };
}

const PACKAGE = new URL("../../node_modules/@sparticuz/chromium/", import.meta.url);
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));
const PACKED = ["chromium.br", "al2023.tar.br"];

/** Renamed into its place when it is whole: other processes may unpack at the same time. */
async function unpacked(): Promise<string> {
  const { default: manifest } = await import(new URL("package.json", PACKAGE).href, { with: { type: "json" } });
  const folder = join(CACHE, `chromium-${manifest.version}`);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  const fresh = await mkdtemp(`${folder}-`);
  const temporary = process.env["TMPDIR"];
  // It unpacks into the folder for temporary files, whatever that is, under names that others use as well.
  process.env["TMPDIR"] = fresh;
  try {
    await Promise.all(PACKED.map((name) => inflate(fileURLToPath(new URL(`bin/${name}`, PACKAGE)))));
  } finally {
    if (temporary === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = temporary;
  }
  await rename(fresh, folder).catch(async (error: unknown) => {
    await rm(fresh, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  });
  return folder;
}
