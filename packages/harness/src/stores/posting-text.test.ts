import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DistanceList,
  listOfBlock,
  listsByBlock,
  partWriter,
  postingWriter,
  readPostings,
  withoutEntry,
} from "./posting-text.ts";

const [BLOCK, PART] = [1024, 16 * 1024];
type Place = readonly [place: number, weight: number];

const PLACES: Readonly<Record<string, readonly Place[]>> = {
  none: [],
  "the first and the last": [
    [0, 1],
    [PART - 1, 1],
  ],
  "the last alone": [[PART - 1, 2.5]],
  "side by side": Array.from({ length: 300 }, (_, at) => [at, 1 + (at % 20)] as const),
  // Where one digit, two and three of them end.
  "every distance": [0, 2, 41, 81, 122, 164, 1482, 2801, 4121, 5442, 6764, 10_860].map((place) => [place, 1] as const),
  weights: [
    [5, 1],
    [6, 2],
    [7, 16],
    [8, 17],
    [9, 0.5],
    [1030, 123.45],
    [1031, 1],
  ],
};

for (const [name, places] of Object.entries(PLACES))
  test(`places spelled as distances come back: ${name}`, () => {
    const list = spelled(places);
    assert.deepEqual(read(list), places);
    assert.deepEqual(
      read(list, 2048),
      places.map(([place, weight]) => [place + 2048, weight]),
    );
    const byBlock = [...listsByBlock(list, BLOCK)].flatMap(([block, own]) => {
      assert.equal(listOfBlock(list, block, BLOCK), own.text());
      return read(own.text(), block * BLOCK);
    });
    assert.deepEqual(byBlock, places);
    for (const [wanted] of places)
      assert.deepEqual(
        read(withoutEntry(list, wanted, BLOCK)),
        places.filter(([place]) => place !== wanted),
      );
    assert.equal(withoutEntry(list, 4000, BLOCK), list);
  });

test("weights and passages come back, and once in each of several passages costs no sign for the weight", () => {
  const values = [
    [0, 1, 0b1],
    [1, 3, 0b1],
    [2, 2, 0b101],
    [3, 1, 0b101],
    [4, 7, 0b101],
    [5, 2.5, 0b11],
    [6, 12, 0b1111_1111_1111],
    [7, 1, 1 << 11],
  ] as const;
  const writer = postingWriter(BLOCK);
  const distances = new DistanceList();
  for (const [place, weight, passages] of values) {
    writer.add(place, new Map([["word", weight]]), new Map([["word", passages]]));
    distances.add(place, weight, passages);
  }
  const { list } = writer.rows()[0]!;
  for (const text of [list, distances.text()]) {
    const found: (readonly [number, number, number])[] = [];
    readPostings(text, BLOCK, (place, weight, passages) => found.push([place, weight, passages]));
    assert.deepEqual(found, values);
  }
  assert.match(list, /02=05/);
});

test("a part gives the rows of its blocks where it isn't full, as if they had been written one by one", () => {
  const [part, single] = [partWriter(64, 32), postingWriter(64)];
  for (let ordinal = 32 * 64; ordinal < 35 * 64; ordinal += 3) {
    const terms = new Map([
      [`term${ordinal % 7}`, 1],
      ["b", 2],
      [ordinal % 2 === 0 ? "a" : "z", 1.5],
    ]);
    part.add(ordinal, terms);
    single.add(ordinal, terms);
  }
  assert.deepEqual(part.rows(), single.rows());
  const merged = part.merged().map(({ term, list }) => [term, read(list)] as const);
  assert.deepEqual(
    merged.map(([term]) => term),
    [...merged.map(([term]) => term)].sort(),
  );
  const places = single.rows().filter(({ term }) => term === "b");
  assert.deepEqual(
    merged.find(([term]) => term === "b")![1],
    places.flatMap(({ block, list }) => read(list, (block - 32) * 64)),
  );
});

function spelled(places: readonly Place[]): string {
  const list = new DistanceList();
  for (const [place, weight] of places) list.add(place, weight);
  assert.equal(list.count, places.length);
  return list.text();
}

function read(list: string, start = 0): Place[] {
  const places: Place[] = [];
  readPostings(list, BLOCK, (offset, weight) => places.push([offset, weight]), start);
  return places;
}

test("the passages of a term are kept beside its weight, in blocks, in parts and after an erasure", () => {
  const terms = new Map([
    ["one", 1],
    ["two", 2.5],
    ["far", 1],
    ["all", 3],
  ]);
  const passages = new Map([
    ["one", 1 << 9],
    ["two", 0b101],
    ["far", 1 << 11],
  ]);
  const [part, single] = [partWriter(64, 0), postingWriter(64)];
  for (const writer of [part, single]) {
    writer.add(3, terms, passages);
    writer.add(40, terms);
  }
  const read = (list: string): number[][] => {
    const places: number[][] = [];
    readPostings(list, 64, (...place) => places.push(place));
    return places;
  };
  for (const rows of [part.merged(), part.rows(), single.rows()])
    for (const { term, list } of rows) {
      const [weight, bits] = [terms.get(term)!, passages.get(term) ?? 0];
      assert.deepEqual(read(list), [
        [3, weight, bits],
        [40, weight, 0],
      ]);
      assert.deepEqual(read(withoutEntry(list, 40, 64)), [[3, weight, bits]]);
    }
});
