/** A drawing as plain data, so that a file has it as text and a page as elements, without either knowing the other. Pure. */

export interface Drawn {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly (Drawn | string)[];
}

export function drawn(tag: string, attributes: Drawn["attributes"], ...children: Drawn["children"]): Drawn {
  return { tag, attributes, children };
}

/** As it stands in a file; every word is escaped. */
export function markup({ tag, attributes, children }: Drawn): string {
  const pairs = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`);
  if (children.length === 0) return `<${tag}${pairs.join("")}/>`;
  const inside = children.map((child) => (typeof child === "string" ? escaped(child) : markup(child)));
  return `<${tag}${pairs.join("")}>${inside.join("")}</${tag}>`;
}

export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
