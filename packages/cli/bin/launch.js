// From a clone the sources run as they are when node is given `--conditions=source`; elsewhere what was built.
const { main } = await import("@palimpsest/cli");
process.exitCode = await main(process.argv.slice(2));
