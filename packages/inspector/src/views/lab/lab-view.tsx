import { Empty } from "../../parts/empty.tsx";

export function LabView() {
  return <Empty title="Lab">There is nothing to see here yet.</Empty>;
}
