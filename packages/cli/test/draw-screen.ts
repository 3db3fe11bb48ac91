/** One character on the screen, with the styles it was written in: `2 38;5;208`, or "" for none. */
export interface Cell {
  readonly character: string;
  readonly style: string;
}

/** What is left on a screen of any height when this was written to it. Knows few control sequences; any other throws. */
export function drawScreen(written: string): string {
  return drawCells(written)
    .map((line) => line.map(({ character }) => character).join(""))
    .join("\n");
}

export function drawCells(written: string): Cell[][] {
  const lines: Cell[][] = [[]];
  let [row, column] = [0, 0];
  let style = "";
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
    else if (STYLE.test(sequence)) style = styled(style, STYLE.exec(sequence)![1]!);
    else if (sequence.startsWith(ESCAPE) && !/[hl]$/.test(sequence))
      throw new Error(`an unknown control sequence: ${JSON.stringify(sequence)}`);
    else if (!sequence.startsWith(ESCAPE)) lines[row]![column++] = { character: sequence, style };
    while (lines.length <= row) lines.push([]);
  }
  return lines.map((line) => Array.from(line, (cell) => cell ?? { character: " ", style: "" }));
}

/** The styles that hold behind these codes: 0 ends all of them, the others of this table their own. */
function styled(before: string, codes: string): string {
  const ended = ENDS[codes];
  const kept = before.split(" ").filter((code) => code !== "" && ended?.test(code) !== true);
  return (ended === undefined ? [...kept, codes] : kept).join(" ");
}

const ENDS: Readonly<Record<string, RegExp>> = {
  "": /./,
  0: /./,
  22: /^[12]$/,
  23: /^3$/,
  24: /^4$/,
  39: /^3\d/,
  "22;23;24;39": /./,
};

const ESCAPE = String.fromCharCode(27);
const CONTROL = new RegExp(`^${ESCAPE}\\[\\??(\\d*)([A-Za-z])$`);
const STYLE = new RegExp(`^${ESCAPE}\\[([\\d;]*)m$`);
const SEQUENCE = new RegExp(`${ESCAPE}\\[\\??[\\d;]*[A-Za-z]|.`, "gsu");
