import { PalimpsestError } from "@palimpsest/core/errors";

/** Why a gateway can't start. */
export class GatewayError extends PalimpsestError<"keys-needed" | "cannot-listen"> {
  static override readonly kind = "GatewayError";
}
