/** A worker as a process of its own, to be killed: takes the home's directory. */
import { openHome } from "palimpsest/home";
import { startWorker } from "../src/index.ts";

const [directory = ""] = process.argv.slice(2);
await startWorker({ home: await openHome({ home: directory, cwd: directory, env: { HOME: directory } }) });
process.stdout.write("working\n");
