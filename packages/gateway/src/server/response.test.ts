import assert from "node:assert/strict";
import { test } from "node:test";
import { type Route, Stream } from "../http/route.ts";
import { responseOf } from "./response.ts";

test("a long text is sent in pieces, so that others are served between them, and no character is cut in half", async () => {
  const long = `x${"\u{1f600}".repeat(2_000_000)}`;
  let released = 0;
  const response = responseOf({} as Route, new Stream(["short, ", long, ", end"]), {
    after: () => () => {},
    cut: () => {},
    release: () => {
      released += 1;
    },
    signal: new AbortController().signal,
  });
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body!) pieces.push(piece);
  assert.equal(Buffer.concat(pieces).toString(), `short, ${long}, end`);
  assert.ok(Math.max(...pieces.map(({ length }) => length)) < 4_500_000, `${pieces.map(({ length }) => length)}`);
  assert.equal(released, 1);
});
