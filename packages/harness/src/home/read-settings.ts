/** The settings of a home: the configuration that was chosen, judged, read and checked. The text judged is the text used. */
import { type Admission, admitConfig } from "./admission.ts";
import { type ChosenConfig, readConfig } from "./find.ts";
import { HomeError } from "./home-error.ts";
import { inspectConfig } from "./parse.ts";
import type { Person } from "./person.ts";
import { type ConfigFile, configSchema } from "./schema.ts";

export interface ReadSettingsOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onWarning?: WarningListener | undefined;
  readonly home: string;
  readonly person: Person;
  /** Throws where it may not be used. */
  readonly admit: (admission: Admission) => Promise<unknown>;
}

/** `always`: a person should see it at every start; `verbose`: where they ask for more. */
export type WarningListener = (text: string, told: "always" | "verbose") => void;

export async function readSettings(chosen: ChosenConfig | null, options: ReadSettingsOptions): Promise<ConfigFile> {
  if (chosen === null) return configSchema.parse({});
  const { home, person, env, admit, onWarning } = options;
  const text = readConfig(chosen);
  if (typeof text !== "string") throw unusable(chosen.path, [text.problem]);
  await admit(admitConfig(chosen, { text, home, person }));
  const parsed = inspectConfig(text, { env });
  if (parsed.kind === "invalid")
    throw unusable(
      chosen.path,
      parsed.problems.map(({ message }) => message),
    );
  for (const { message, told } of parsed.warnings) onWarning?.(`${chosen.path}: ${message}`, told ?? "verbose");
  return parsed.config;
}

function unusable(path: string, [first, ...others]: readonly string[]): HomeError {
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const advice = `Nothing was done: "palimpsest config check" shows all there is to repair`;
  return new HomeError("config", `${path}: ${first}${more}. ${advice}.`);
}
