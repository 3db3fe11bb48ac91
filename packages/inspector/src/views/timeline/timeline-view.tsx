import { Empty } from "../../parts/empty.tsx";

export function TimelineView() {
  return <Empty title="Timeline">There is nothing to see here yet.</Empty>;
}
