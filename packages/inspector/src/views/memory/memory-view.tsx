import { Empty } from "../../parts/empty.tsx";

export function MemoryView() {
  return <Empty title="Memory">There is nothing to see here yet.</Empty>;
}
