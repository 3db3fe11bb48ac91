/** What is typed in the recording: a fact, a few long pastes until the window is full, and a question about the fact. */

export interface Act {
  /** What a person does: types it, or pastes it. */
  readonly how: "type" | "paste";
  readonly text: string;
  /** Said below the terminal while it happens. */
  readonly caption: string;
}

/** Small enough to be full in half a minute. */
export const WINDOW = 8000;

const NEWS = [
  "the Anna takes on salt and rope",
  "the Gull lands forty crates of cod",
  "pilot aboard, wind north by east, four",
  "crane two is stopped for its cable",
];

const FILLS = "Long pastes fill the window.";

export const STORY: readonly Act[] = [
  { how: "type", text: "My dog Rex lives in Oslo.", caption: "A fact is said once, in a window of 8,000 tokens." },
  { how: "paste", text: harborLog(1), caption: FILLS },
  { how: "paste", text: harborLog(2), caption: FILLS },
  { how: "paste", text: harborLog(3), caption: FILLS },
  { how: "paste", text: harborLog(4), caption: FILLS },
  { how: "paste", text: harborLog(5), caption: "Full: a summary takes the older part. The log keeps every word." },
  { how: "type", text: "Where does Rex live?", caption: "Hidden, not lost: recall finds the first words again." },
];

/** A day at a harbor, an entry for every twelve minutes. */
function harborLog(day: number): string {
  const entries = Array.from({ length: 68 }, (_, index) => {
    const minute = 6 * 60 + 12 * index;
    const time = [minute / 60, minute % 60].map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
    return `${time} berth ${((index * day) % 7) + 1}: ${NEWS[(index + day) % NEWS.length]}`;
  });
  return [`Harbor log, day ${day}`, ...entries].join("\n");
}
