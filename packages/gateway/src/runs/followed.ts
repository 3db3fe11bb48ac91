/** A run's events as a reader gets them: each with its id, and at the end why there are no more where that isn't plain. */
import { eventText } from "../http/event-stream.ts";
import type { SeenRun } from "./seen-run.ts";

export async function* followed(run: SeenRun, after: number): AsyncGenerator<string> {
  const slices = run.events(after);
  for (;;) {
    const { done, value } = await slices.next();
    if (done === true) {
      if (value === "gone") yield errorText("events-gone", "you read too slowly: the next events are no longer kept");
      else if (value === "lost") yield errorText("run-lost", "the process that carried it out is gone");
      else if (run.stoppedBy === "shutdown")
        yield errorText("closing", "the server has shut down before the run ended");
      return;
    }
    yield value.map(({ id, data }) => eventText(data, { id })).join("");
  }
}

function errorText(code: string, message: string): string {
  return eventText(JSON.stringify({ error: { code, message } }), { name: "error" });
}
