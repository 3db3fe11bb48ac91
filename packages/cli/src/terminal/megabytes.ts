/** "0.3 MB": for a person to compare. */
export function megabytes(bytes: number): string {
  const size = bytes / (1 << 20);
  return `${size < 10 ? size.toFixed(1) : Math.round(size).toLocaleString("en-US")} MB`;
}
