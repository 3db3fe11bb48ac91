// What `npm ci` runs at its end: builds, unless only what the chat needs was installed (scripts/ensure-installed.mjs).
import { existsSync } from "node:fs";

if (existsSync(new URL("../node_modules/typescript", import.meta.url))) await import("./build.mjs");
