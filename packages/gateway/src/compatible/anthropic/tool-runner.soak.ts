process.env["PALIMPSEST_TURNS"] ??= "500";
process.env["PALIMPSEST_WINDOW"] ??= "8000";
await import("./tool-runner.test.ts");
