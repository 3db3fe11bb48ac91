// Loaded before the binary: its pipes pass for a terminal in raw mode, whose bytes are a person's keys.
const { stdin, stdout } = process;
Object.assign(stdin, { isTTY: true, setRawMode: () => stdin });
Object.assign(stdout, { isTTY: true, columns: 80, rows: 24 });
