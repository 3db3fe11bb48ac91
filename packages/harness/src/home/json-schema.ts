/** The JSON Schema of a configuration file as a person writes it, for editors: defaults may be left out. */
import { z } from "zod/v4";
import { configSchema } from "./schema.ts";

export function configJsonSchema(): object {
  return {
    ...z.toJSONSchema(configSchema, { io: "input" }),
    title: "palimpsest configuration",
    description: "config.yaml of palimpsest. `palimpsest config check` says what is wrong in one.",
  };
}
