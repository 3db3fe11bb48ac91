import assert from "node:assert/strict";
import { test } from "node:test";
import { PalimpsestError } from "./errors.ts";

class DiskError extends PalimpsestError<"full" | "gone"> {
  static override readonly kind: string = "DiskError";
}

class SlowDiskError extends DiskError {
  static override readonly kind = "SlowDiskError";
}

test("an error has its class's name, a code, a message and its cause", () => {
  const cause = new Error("ENOSPC");
  const error = new DiskError("full", "the disk is full: make room", { cause });
  assert.deepEqual(
    [error.name, error.code, error.message, error.cause],
    ["DiskError", "full", "the disk is full: make room", cause],
  );
  assert.ok(!("cause" in new DiskError("gone", "where?")));
});

test("isInstance knows a class and what it extends, and nothing else", () => {
  const error = new SlowDiskError("gone", "where?");
  assert.ok(PalimpsestError.isInstance(error) && DiskError.isInstance(error) && SlowDiskError.isInstance(error));
  assert.ok(!SlowDiskError.isInstance(new DiskError("gone", "where?")));
  for (const other of [new Error("x"), Object.assign(new Error("x"), { code: "full" }), null, "full", {}]) {
    assert.ok(!PalimpsestError.isInstance(other));
  }
});

test("isInstance knows an error that another copy of the package threw", async () => {
  const copy: typeof import("./errors.ts") = await import(`${import.meta.resolve("./errors.ts")}?copy`);
  const error = new copy.PalimpsestError("busy", "try again");
  assert.ok(!(error instanceof PalimpsestError));
  assert.ok(PalimpsestError.isInstance(error));
});
