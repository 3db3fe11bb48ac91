/** As in `engines`. Where the machine's Node is as new, a chat runs on it. */
const NEEDED = [22, 18];

/**
 * What has to be installed before a script runs: "chat", "chat and Node", "all", or null for nothing.
 * An installation with the tests stays one. npm puts the project's own Node first on the path, and installing removes it:
 * what runs on it says nothing of the machine's Node.
 */
export function installOf({ needsChatOnly, isCurrent, hasTests, hasOwnNode, runsOnOwnNode, version }) {
  const [major, minor] = version.split(".").map(Number);
  const isNewEnough = major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
  if (isCurrent && (isNewEnough || hasOwnNode) && (needsChatOnly || hasTests)) return null;
  if (!needsChatOnly || hasTests) return "all";
  return isNewEnough && !runsOnOwnNode ? "chat" : "chat and Node";
}
