import { Empty } from "../../parts/empty.tsx";

export function ThreadsView() {
  return <Empty title="Threads">There is nothing to see here yet.</Empty>;
}
