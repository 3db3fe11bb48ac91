import type { KeyRows, Store } from "palimpsest/stores";
import { Failure } from "../command/failure.ts";

export function keysOf({ keys }: Store): KeyRows {
  if (keys === undefined) throw new Failure("unsupported", "This store keeps no keys: use SQLite or PostgreSQL.");
  return keys;
}
