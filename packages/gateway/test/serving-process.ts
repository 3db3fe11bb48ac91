/** A gateway as a process of its own, to be killed: takes the home's directory, says where it can be reached. */
import { openHome } from "palimpsest/home";
import { createGateway } from "../src/index.ts";

const [directory = "", store] = process.argv.slice(2);
const home = await openHome({
  home: directory,
  cwd: directory,
  env: { HOME: directory },
  ...(store !== undefined && { store }),
});
const { url } = await createGateway({ home }).listen({ port: 0 });
process.stdout.write(`${url}\n`);
