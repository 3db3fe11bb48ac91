/** Texts such as agents meet: prose in several scripts, code, logs with failing lines, JSON, hashes, and small images. */
import { base64, type ImagePart } from "@palimpsest/core/internal/message";
import type { Random } from "./random.ts";

/** About `length` characters, never blank. */
export function prose(random: Random, length: number): string {
  return fill(length, " ", () => (random.chance(0.03) ? random.pick(RARE) : random.pick(WORDS)));
}

/** What a tool prints: lines, some of them errors. */
export function output(random: Random, length: number): string {
  return fill(length, "\n", () => {
    if (random.chance(0.05)) return `Error: ${random.pick(WORDS)} failed in ${path(random)}:${random.int(1, 900)}`;
    if (random.chance(0.1)) return hash(random);
    if (random.chance(0.2)) return JSON.stringify({ [random.pick(WORDS)]: random.int(0, 9999), path: path(random) });
    return `  ${random.pick(WORDS)}(${random.pick(WORDS)}, ${random.int(0, 99)});`;
  });
}

/** One of few paths, so that files are read again and again. */
export const path = (random: Random): string => `src/${random.pick(FILES)}.ts`;

export function hash(random: Random): string {
  let digits = "";
  while (digits.length < 40) {
    const drawn = random.int(0, 0xffffffff);
    for (let shift = 24; shift >= 0; shift -= 8) digits += HEX[(drawn >>> shift) & 255]!;
  }
  return digits;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** A PNG's first bytes, with real dimensions and nothing to see. */
export function picture(random: Random): ImagePart {
  const sides = [random.int(1, 4000), random.int(1, 4000)].flatMap((side) => [0, 0, side >> 8, side & 255]);
  const bytes = [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, ...sides, 8, 6, 0, 0, 0];
  const noise = Array.from({ length: random.int(1, 200) }, () => random.int(0, 255));
  const data = base64(Uint8Array.from([...bytes, ...noise]));
  return { kind: "image", mediaType: "image/png", source: { kind: "base64", data } };
}

function fill(length: number, separator: string, piece: () => string): string {
  const pieces = [piece()];
  for (let size = pieces[0]!.length + 1; size < length; size += pieces.at(-1)!.length + 1) pieces.push(piece());
  return pieces.join(separator);
}

const FILES = ["main", "loop", "store", "plan", "view", "shape", "render", "parse", "index", "config"];

const WORDS =
  "please look at the test that fails when we read a file twice and then fix it without touching other parts because users rely on this name for their own tools which must stay valid after every change so run check again".split(
    " ",
  );

const RARE = [
  "修复这个错误",
  "naïve",
  "Größe",
  "🙂",
  "данные",
  "$&",
  "</memory>",
  "`x`",
  '"quoted"',
  "résumé",
  "テスト",
];
