process.env["PALIMPSEST_TURNS"] ??= "500";

await import("./held-turns.test.ts");
