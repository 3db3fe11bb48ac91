// What `npm start` runs: the chat at a terminal, else the demo, which ends by itself.
const command = process.stdin.isTTY && process.stdout.isTTY ? "chat" : "demo";
process.argv.splice(2, 0, command);
await import("../packages/cli/bin/palimpsest.js");
