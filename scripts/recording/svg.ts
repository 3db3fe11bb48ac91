/** Something drawn, with the rule of the style sheet that moves it. */
export interface Motion {
  readonly css: string;
  readonly svg: string;
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
