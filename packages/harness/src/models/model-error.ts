/** What can be wrong with a model before it is called. */
import { PalimpsestError } from "@palimpsest/core/errors";

export class ModelError extends PalimpsestError<"no-key" | "bad-address"> {
  static override readonly kind = "ModelError";
}
