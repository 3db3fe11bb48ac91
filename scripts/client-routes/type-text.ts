/** A JSON schema as the text of a TypeScript type, as far as our routes' schemas go. Pure. */

export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

export function typeText(schema: Schema): string {
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  const several = schema.anyOf ?? schema.oneOf;
  if (several !== undefined) return unionOf(several.map(typeText));
  if (Array.isArray(schema.type)) return unionOf(schema.type.map((type) => typeText({ ...schema, type })));
  switch (schema.type) {
    case "object":
      return objectText(schema);
    case "array":
      return `readonly ${inParentheses(typeText(schema.items ?? {}))}[]`;
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    default:
      return "unknown";
  }
}

function objectText({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const key = /^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name);
    return `readonly ${key}${required.includes(name) ? "" : "?"}: ${typeText(schema)};`;
  });
  const others = typeof additionalProperties === "object" ? typeText(additionalProperties) : "unknown";
  if (additionalProperties !== false) fields.push(`readonly [name: string]: ${others};`);
  if (fields.length === 0) return "Record<string, never>";
  return `{\n${fields.join("\n")}\n}`;
}

function unionOf(texts: readonly string[]): string {
  return [...new Set(texts)].map(inParentheses).join(" | ");
}

function inParentheses(text: string): string {
  return /^[\w{]/.test(text) && !/ \| /.test(text.replaceAll(/\{.*\}/gs, "")) ? text : `(${text})`;
}
