/** What is shown, without the secrets in it. Each piece is whole: a message, or a part of a page that holds one. */
import { redactSecrets } from "@palimpsest/core/memory";

export async function* masked(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces) yield redactSecrets(piece).text;
}
