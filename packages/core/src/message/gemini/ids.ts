/** The id of a call that has none: its name and, from the second of that name in a message on, its number. */
export const functionId = (name: string, number: number): string =>
  number === 1 ? `function:${name}` : `function:${name}#${number}`;
