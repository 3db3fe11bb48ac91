/** A drawing that is plain data, as elements. */
import { type ComponentChild, h } from "preact";

interface Drawing {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly (Drawing | string)[];
}

/** `label` describes the drawing to screen readers. */
export function Drawn({ drawing, label }: { readonly drawing: Drawing; readonly label: string }) {
  const { tag, attributes, children } = drawing;
  return h(tag, { ...attributes, "aria-label": label }, ...children.map(elementOf));
}

function elementOf(drawing: Drawing | string): ComponentChild {
  if (typeof drawing === "string") return drawing;
  return h(drawing.tag, drawing.attributes, ...drawing.children.map(elementOf));
}
