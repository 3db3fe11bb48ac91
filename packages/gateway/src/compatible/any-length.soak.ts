process.env["PALIMPSEST_TURNS"] ??= "2000";
process.env["PALIMPSEST_WINDOW"] ??= "16000";
await import("./any-length.test.ts");
