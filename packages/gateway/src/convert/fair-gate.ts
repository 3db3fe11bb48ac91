/** Lets so many in at a time, and so many of each user; the others wait in the order they came. */

export interface FairGate {
  /** Resolves to the function that leaves again. Rejects if the signal aborts while it waits. */
  enter(userId: string, signal: AbortSignal): Promise<() => void>;
}

interface Waiting {
  readonly userId: string;
  readonly admit: () => void;
}

export function fairGate({ most, mostPerUser }: { readonly most: number; readonly mostPerUser: number }): FairGate {
  const inside: string[] = [];
  let waiting: readonly Waiting[] = [];
  const next = (): void => {
    while (inside.length < most) {
      const first = waiting.find(({ userId }) => inside.filter((one) => one === userId).length < mostPerUser);
      if (first === undefined) return;
      waiting = waiting.filter((one) => one !== first);
      inside.push(first.userId);
      first.admit();
    }
  };
  return {
    enter(userId, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const leave = once(() => {
          inside.splice(inside.indexOf(userId), 1);
          next();
        });
        const giveUp = () => {
          waiting = waiting.filter((one) => one !== place);
          reject(signal.reason);
        };
        const place = {
          userId,
          admit: () => {
            signal.removeEventListener("abort", giveUp);
            resolve(leave);
          },
        };
        waiting = [...waiting, place];
        signal.addEventListener("abort", giveUp, { once: true });
        next();
      });
    },
  };
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}
