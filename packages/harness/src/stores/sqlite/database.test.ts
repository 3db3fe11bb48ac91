import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "../store-error.ts";
import { openDatabase } from "./connection.ts";

test("on a Node without SQLite the library says which Node has it", (t) => {
  t.mock.method(process, "getBuiltinModule", () => undefined);
  assert.throws(
    () => openDatabase(":memory:", {}),
    (error) =>
      StoreError.isInstance(error) &&
      /this Node \([\d.]+\) has no SQLite: use Node 22\.18 or newer/.test(error.message),
  );
});
