/**
 * Bounds what archives hold in memory while they are imported, all users together. An archive is read value by value, so
 * that it holds at most the longest value that is allowed, and no more than its largest file.
 */
import { ProblemError } from "../http/problem.ts";

export interface UnpackingRoom {
  /** For one import; `longest`: the most bytes of one value. */
  place(longest: number): UnpackingPlace;
}

interface UnpackingPlace {
  /** Takes room for an archive whose largest file has so many bytes. Throws if there is none at the moment. */
  take(largest: number): void;
  leave(): void;
}

/** Values of the greatest length that may be in memory at once. */
const VALUES = 2;

export function unpackingRoom(): UnpackingRoom {
  let taken = 0;
  return {
    place(longest) {
      let own = 0;
      return {
        take(largest) {
          const bytes = Math.min(largest, longest);
          if (taken + bytes > VALUES * longest)
            throw new ProblemError(
              503,
              "unpacking",
              "other large archives are being imported at the moment: try again in a few seconds; nothing was imported",
              { headers: { "retry-after": "5" } },
            );
          own += bytes;
          taken += bytes;
        },
        leave() {
          taken -= own;
          own = 0;
        },
      };
    },
  };
}
