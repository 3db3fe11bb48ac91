/** What the page is made of, and how figures are written on it. */
export interface Subject {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  rows(figures: never): readonly Row[];
}

export interface Row {
  readonly what: string;
  readonly ours: string;
  readonly theirs?: string;
  readonly ratio?: string;
}

export function percent(share: number, digits = 1): string {
  return `${(share * 100).toFixed(digits)} %`;
}

export function ms(value: number): string {
  return value >= 1000 ? `${(value / 1000).toFixed(1)} s` : `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

export function bytes(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} MB`;
  return `${(value / 1e3).toFixed(1)} kB`;
}

export function times(value: number): string {
  return `${value >= 10 ? value.toFixed(0) : value.toFixed(2)}x`;
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
