/** The same conversations at a length that nobody waits for: 200 turns (or PALIMPSEST_TURNS of them). */
process.env["PALIMPSEST_TURNS"] ??= "200";
await import("./strict-turns.test.ts");
