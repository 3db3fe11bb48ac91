/**
 * Between the terminal and readline: lines pasted together stay together. A terminal that was asked to marks what is
 * pasted; the line breaks inside such marks become one visible character, which the submitted line turns back.
 */
import { Transform } from "node:stream";

export const PASTE_ON = "\u001b[?2004h";
export const PASTE_OFF = "\u001b[?2004l";

/** Shown where a pasted line ends. */
const BREAK = "\u23ce";
const START = "\u001b[200~";
const END = "\u001b[201~";

export function withLineBreaks(line: string): string {
  return line.replaceAll(BREAK, "\n");
}

export function pasteFilter(): Transform {
  let pasting = false;
  let held = "";
  const convert = (given: string): string => {
    let text = given;
    let out = "";
    for (;;) {
      const mark = pasting ? END : START;
      const at = text.indexOf(mark);
      const piece = at === -1 ? text : text.slice(0, at);
      out += pasting ? piece.replaceAll(/\r\n?|\n/g, BREAK).replaceAll("\t", "  ") : piece;
      if (at === -1) return out;
      text = text.slice(at + mark.length);
      pasting = !pasting;
    }
  };
  return new Transform({
    decodeStrings: false,
    transform(chunk: Buffer | string, _, done) {
      const text = held + chunk.toString();
      const cut = text.length - openMark(text, pasting ? END : START);
      held = text.slice(cut);
      done(null, convert(text.slice(0, cut)));
    },
    flush(done) {
      done(null, held);
    },
  });
}

/** How much of the end may be the beginning of a mark. A lone Escape, which does nothing, waits for the next key. */
function openMark(text: string, mark: string): number {
  for (let size = Math.min(mark.length - 1, text.length); size > 0; size -= 1)
    if (text.endsWith(mark.slice(0, size))) return size;
  return 0;
}
