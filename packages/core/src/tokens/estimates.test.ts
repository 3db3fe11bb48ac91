import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ImagePart } from "../message/shape.ts";
import { type ImageRule, imageSize, imageTokens, type Size, sizeTokens } from "./estimates.ts";

const be16 = (n: number) => [n >> 8, n & 255];
const le16 = (n: number) => [n & 255, n >> 8];
const le24 = (n: number) => [n & 255, (n >> 8) & 255, n >> 16];
const be32 = (n: number) => [...be16(n >>> 16), ...be16(n & 0xffff)];
const ascii = (text: string) => [...text].map((char) => char.charCodeAt(0));
const riff = (kind: string, rest: number[]) => [
  ...ascii("RIFF"),
  0,
  0,
  0,
  0,
  ...ascii(`WEBP${kind}`),
  0,
  0,
  0,
  0,
  ...rest,
];

/** The header bytes each format's specification asks for, for one size. */
const headers: Record<string, (size: Size) => number[]> = {
  png: ({ width, height }) => [
    0x89,
    ...ascii("PNG\r\n\x1a\n"),
    ...be32(13),
    ...ascii("IHDR"),
    ...be32(width),
    ...be32(height),
  ],
  gif: ({ width, height }) => [...ascii("GIF89a"), ...le16(width), ...le16(height)],
  jpeg: ({ width, height }) => [
    0xff,
    0xd8,
    0xff,
    0xe0,
    ...be16(16),
    ...ascii("JFIF\0"),
    1,
    1,
    0,
    0,
    1,
    0,
    1,
    0,
    0,
    0xff,
    0xc4,
    ...be16(5),
    1,
    2,
    3,
    0xff,
    0xff,
    0xc2,
    ...be16(17),
    8,
    ...be16(height),
    ...be16(width),
    3,
  ],
  "webp lossy": ({ width, height }) => riff("VP8 ", [0, 0, 0, 0x9d, 0x01, 0x2a, ...le16(width), ...le16(height)]),
  "webp lossless": ({ width, height }) => {
    const bits = (((width - 1) | ((height - 1) << 14)) >>> 0) as number;
    return riff("VP8L", [0x2f, bits & 255, (bits >>> 8) & 255, (bits >>> 16) & 255, bits >>> 24, 0, 0, 0, 0, 0]);
  },
  "webp extended": ({ width, height }) => riff("VP8X", [0, 0, 0, 0, ...le24(width - 1), ...le24(height - 1)]),
};

const picture = (bytes: readonly number[]): ImagePart => ({
  kind: "image",
  mediaType: null,
  source: { kind: "base64", data: Buffer.from(bytes).toString("base64") },
});

for (const [format, header] of Object.entries(headers)) {
  test(`[F25] the real dimensions are read from a ${format} header`, () => {
    const side = fc.integer({ min: 1, max: 16383 });
    fc.assert(
      fc.property(side, side, fc.array(fc.nat(255), { maxLength: 20 }), (width, height, rest) => {
        assert.deepEqual(imageSize(picture([...header({ width, height }), ...rest])), { width, height });
      }),
    );
  });
}

test("an image in a data URL is measured, a linked one takes the default", () => {
  const data = Buffer.from(headers["png"]!({ width: 750, height: 100 })).toString("base64");
  const inline: ImagePart = {
    kind: "image",
    mediaType: null,
    source: { kind: "url", url: `data:image/png;base64,${data}` },
  };
  const linked: ImagePart = {
    kind: "image",
    mediaType: null,
    source: { kind: "url", url: "https://example.org/a.png" },
  };
  assert.equal(imageTokens(inline, "anthropic"), 100);
  assert.equal(imageTokens(linked, "anthropic"), 1600);
});

test("each provider's published size rule", () => {
  const cases: [ImageRule, number, number, number][] = [
    ["openai", 1024, 1024, 765],
    ["openai", 2048, 4096, 1105],
    ["openai", 512, 512, 255],
    ["openai", 1, 1, 255],
    ["openai-low", 4096, 4096, 85],
    ["anthropic", 200, 200, 54],
    ["anthropic", 1000, 1000, 1334],
    ["anthropic", 1092, 1092, 1590],
    ["anthropic", 3000, 3000, 1600],
    ["google", 384, 384, 258],
    ["google", 768, 768, 258],
    ["google", 1536, 769, 1032],
  ];
  for (const [rule, width, height, tokens] of cases) {
    assert.equal(sizeTokens({ width, height }, rule), tokens, `${rule} ${width}x${height}`);
  }
});

test("[F25] broken images count and never throw", () => {
  const rules: ImageRule[] = ["openai", "openai-low", "anthropic", "google"];
  const bytes = fc.array(fc.nat(255), { maxLength: 64 });
  const header = fc.constantFrom(...Object.values(headers)).map((make) => make({ width: 9, height: 9 }));
  const cut = fc.tuple(header, fc.nat(30), bytes).map(([start, keep, rest]) => [...start.slice(0, keep), ...rest]);
  const text = fc.oneof(
    cut.map((list) => Buffer.from(list).toString("base64")),
    fc.string(),
    fc.constant(""),
  );
  fc.assert(
    fc.property(text, fc.constantFrom(...rules), (data, rule) => {
      const tokens = imageTokens({ kind: "image", mediaType: "image/png", source: { kind: "base64", data } }, rule);
      assert.ok(Number.isInteger(tokens) && tokens > 0);
    }),
  );
});

test("an image without width takes the default", () => {
  assert.equal(imageTokens(picture(headers["gif"]!({ width: 0, height: 5 })), "openai"), 1445);
});
