import { grouped } from "./grouped.ts";

/** "1 thread", "2,000 threads". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}
