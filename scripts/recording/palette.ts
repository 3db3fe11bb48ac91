/** The colors of a terminal's 256, as a browser writes them. Null: the style names none. */
export function colorOf(style: string): string | null {
  const codes = style.split(" ");
  const number = codes.map((code) => /^38;5;(\d+)$/.exec(code)?.[1]).find((digits) => digits !== undefined);
  if (number !== undefined) return fromTable(Number(number));
  const basic = codes.find((code) => /^3[0-7]$/.test(code));
  return basic === undefined ? null : BASIC[Number(basic) - 30]!;
}

const BASIC = ["#2b2d34", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d6d8dd"];
const LEVELS = [0, 95, 135, 175, 215, 255];

/** 16 to 231 are a cube of six levels for each of red, green and blue, 232 to 255 grays. */
function fromTable(number: number): string {
  if (number < 16) return BASIC[number % 8]!;
  const gray = 8 + 10 * (number - 232);
  const cube = number - 16;
  const parts =
    number >= 232
      ? [gray, gray, gray]
      : [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((at) => LEVELS[at]!);
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
