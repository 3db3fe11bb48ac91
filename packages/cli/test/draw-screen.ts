/** What is left on a screen of any height when this was written to it. Knows few control sequences; any other throws. */
export function drawScreen(written: string): string {
  const lines: string[][] = [[]];
  let [row, column] = [0, 0];
  for (const [sequence] of written.matchAll(SEQUENCE)) {
    const [, digits = "", final = ""] = CONTROL.exec(sequence) ?? [];
    const count = Number(digits || 1);
    if (sequence === "\n") [row, column] = [row + 1, 0];
    else if (sequence === "\r" || final === "G") column = sequence === "\r" ? 0 : count - 1;
    else if (final === "K") lines[row]!.length = Math.min(lines[row]!.length, column);
    else if (final === "H") [row, column] = [0, 0];
    else if (final === "J" && digits === "2") lines.splice(0, lines.length, []);
    else if (final === "J") {
      lines.length = row + 1;
      lines[row]!.length = Math.min(lines[row]!.length, column);
    } else if (final === "A") row = Math.max(0, row - count);
    else if (final === "C") column += count;
    else if (final === "D") column = Math.max(0, column - count);
    else if (sequence.startsWith(ESCAPE) && !/[hlm]$/.test(sequence))
      throw new Error(`an unknown control sequence: ${JSON.stringify(sequence)}`);
    else if (!sequence.startsWith(ESCAPE)) lines[row]![column++] = sequence;
    while (lines.length <= row) lines.push([]);
  }
  return lines.map((line) => Array.from(line, (character) => character ?? " ").join("")).join("\n");
}

const ESCAPE = String.fromCharCode(27);
const CONTROL = new RegExp(`^${ESCAPE}\\[\\??(\\d*)([A-Za-z])$`);
const SEQUENCE = new RegExp(`${ESCAPE}\\[\\??[\\d;]*[A-Za-z]|.`, "gsu");
