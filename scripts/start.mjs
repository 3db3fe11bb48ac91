// What `npm start` runs: a conversation that outgrows its window, and ends by itself.
process.argv.splice(2, 0, "demo");
await import("../packages/cli/bin/palimpsest.js");
