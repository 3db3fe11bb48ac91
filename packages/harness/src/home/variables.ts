/** `$NAME` or `${NAME}` as a whole value stands for a variable of the environment. */

/** The variable a value names; undefined for any other value. */
export function variableOf(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const named = /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))$/.exec(value);
  return named?.[1] ?? named?.[2];
}
