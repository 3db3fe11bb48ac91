/** The package: the command as a function. */
export { main } from "./main.ts";
