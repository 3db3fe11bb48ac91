/** How many messages each user has imported today, by UTC. Kept in memory: every gateway counts for itself. */
import type { Home } from "palimpsest/internal/home";
import { ProblemError } from "../http/problem.ts";

export interface ImportQuota {
  /**
   * For one import of the home's user: told the messages of the file that is being read, as far as they are read. Throws
   * when they are more than the user has left. `most` null: there is no limit.
   */
  counting(home: Pick<Home, "directory" | "userId" | "clock">, most: number | null): (messages: number) => void;
}

export function importQuota(): ImportQuota {
  let today = "";
  let counts = new Map<string, number>();
  return {
    counting({ directory, userId, clock }, most) {
      const key = JSON.stringify([directory, userId]);
      let before = 0;
      return (messages) => {
        const day = clock().toISOString().slice(0, 10);
        if (day !== today) [today, counts] = [day, new Map()];
        // A number that gets smaller is the next file's.
        const count = (counts.get(key) ?? 0) + (messages < before ? messages : messages - before);
        before = messages;
        // Nothing of the file is imported, so nothing of it counts: a smaller one may still come.
        if (most !== null && count > most) {
          counts.set(key, count - messages);
          throw new ProblemError(
            429,
            "import-limit",
            `a user may import ${most} messages in a day here (gateway.imported_messages_per_day); nothing of this file was imported`,
          );
        }
        counts.set(key, count);
      };
    },
  };
}
