/** Numbers as people read them: 501,458. */
export function grouped(value: number): string {
  return value.toLocaleString("en-US");
}
