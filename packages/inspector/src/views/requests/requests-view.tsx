import { Empty } from "../../parts/empty.tsx";

export function RequestsView() {
  return <Empty title="Requests">There is nothing to see here yet.</Empty>;
}
