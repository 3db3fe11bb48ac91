// Builds the page where a gateway that runs from its sources looks for it.
import { fileURLToPath } from "node:url";
import { buildPage } from "../../packages/inspector/build.mjs";

await buildPage(fileURLToPath(new URL("../../packages/gateway/dist/page", import.meta.url)));
