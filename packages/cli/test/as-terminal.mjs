// Loaded before the binary: its pipes pass for a terminal in raw mode, whose bytes are a person's keys. A message resizes it.
const { stdin, stdout, stderr } = process;
Object.assign(stdin, { isTTY: true, setRawMode: () => stdin });
Object.assign(stderr, { isTTY: true });
Object.assign(stdout, { isTTY: true, columns: 80, rows: 24 });
process.on("message", (size) => {
  Object.assign(stdout, size);
  stdout.emit("resize");
});
process.channel?.unref();
