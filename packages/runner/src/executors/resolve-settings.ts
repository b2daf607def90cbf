import type { Executor } from "./executor.ts";
import { interpolate, type ReferenceValues, TextError } from "./interpolation.ts";
import { type Setting, type SettingType, type SettingValues, settingOfMember } from "./setting.ts";
import { at, findTextProblem, type GivenSettings, MAXIMUM_TEXT_BYTES } from "./settings.ts";

/** Of all settings of a stack together, with their references replaced. */
export const MAXIMUM_SETTINGS_BYTES = 1_048_576;

/** What a program reads from a file may begin with `-`. */
const IN_A_FILE: readonly SettingType[] = ["map", "values"];

/** Replaces the references in settings that were checked. Paths are not resolved. */
export function resolveSettings(
  { settings }: Pick<Executor, "settings">,
  { pointer, values }: GivenSettings,
  references: ReferenceValues,
): SettingValues {
  const resolver = new Resolver(references);
  const resolved = Object.entries(settings).flatMap(([name, setting]) =>
    Object.hasOwn(values, name)
      ? [[name, resolver.resolve(at(pointer, name), setting, values[name])]]
      : [],
  );
  return Object.fromEntries(resolved);
}

class Resolver {
  readonly #references: ReferenceValues;
  #bytes = 0;

  constructor(references: ReferenceValues) {
    this.#references = references;
  }

  resolve(pointer: string, setting: Setting, value: unknown): unknown {
    if (typeof value === "string") return this.#resolveText(pointer, setting, value);
    if (typeof value !== "object" || value === null) {
      return setting.type === "map" ? String(value) : value;
    }
    if (Array.isArray(value)) {
      return value.map((each, index) => this.resolve(`${pointer}/${index}`, setting, each));
    }
    const members = Object.entries(value);
    return Object.fromEntries(
      members.map(([name, each]) => [
        name,
        this.resolve(at(pointer, name), settingOfMember(setting, name), each),
      ]),
    );
  }

  #resolveText(pointer: string, setting: Setting, text: string): string {
    try {
      const resolved = interpolate(text, this.#references, MAXIMUM_TEXT_BYTES);
      this.#count(resolved);
      requireText(resolved, text, setting);
      return resolved;
    } catch (error) {
      if (!(error instanceof TextError)) throw error;
      throw new TextError(`${pointer} ${error.message}`);
    }
  }

  #count(text: string): void {
    this.#bytes += new TextEncoder().encode(text).length;
    if (this.#bytes > MAXIMUM_SETTINGS_BYTES) {
      const maximum = MAXIMUM_SETTINGS_BYTES.toLocaleString("en-US");
      throw new TextError(`makes the settings of the stack larger than ${maximum} bytes.`);
    }
  }
}

function requireText(resolved: string, text: string, setting: Setting): void {
  const isInAFile = IN_A_FILE.includes(setting.type);
  if (!isInAFile && resolved.startsWith("-") && !text.startsWith("-")) {
    throw new TextError(
      "would become an option, because the value of its reference begins with -.",
    );
  }
  const problem = findTextProblem(setting, resolved);
  if (problem !== undefined) throw new TextError(problem);
}
