import { Empty } from "../../parts/empty.tsx";

export function ChatView() {
  return <Empty title="Chat">There is nothing to see here yet.</Empty>;
}
