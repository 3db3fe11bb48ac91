import { Empty } from "../../parts/empty.tsx";

export function WindowView() {
  return <Empty title="Window">There is nothing to see here yet.</Empty>;
}
