/** Everything that comes through the pipe. */
import { addAbortSignal } from "node:stream";

export async function readStdin(signal: AbortSignal): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of addAbortSignal(signal, process.stdin)) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}
