/** What our other packages use of the agent. */
export { uiMessageStream } from "./ui/ui-stream.ts";
