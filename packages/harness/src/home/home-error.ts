/** Why a home can't be used: it is no directory, isn't trusted, or its configuration is wrong. */
import { PalimpsestError } from "@palimpsest/core/errors";

export class HomeError extends PalimpsestError<"home-not-a-directory" | "untrusted" | "config"> {
  static override readonly kind = "HomeError";
}
