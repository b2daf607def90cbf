import type { Executor, Setting, SettingValues } from "./executor.ts";
import {
  findUnknownReferences,
  interpolate,
  REFERENCES,
  type ReferenceValues,
  TextError,
} from "./interpolation.ts";
import { quote } from "./quote.ts";

/** Below what an operating system accepts as the argument of a program. */
export const MAXIMUM_TEXT_BYTES = 16_384;
export const MAXIMUM_TEXTS = 100;

const TYPES: Record<Setting["type"], string> = {
  file: "the path of a file in the repository",
  text: "a text",
  texts: `a list of at most ${MAXIMUM_TEXTS} texts`,
};

/** What a stack's object in the configuration has. */
export interface GivenSettings {
  /** Of the object, as a JSON Pointer in the configuration. */
  pointer: string;
  values: Readonly<Record<string, unknown>>;
}

/** Before anything runs: what is wrong with the settings, and what to change. */
export function checkSettings(
  { name: executor, settings }: Executor,
  { pointer, values }: GivenSettings,
): string[] {
  const unknown = Object.keys(values).filter(
    (name) => name !== "executor" && !Object.hasOwn(settings, name),
  );
  const names = Object.keys(settings).join(", ");
  return [
    ...unknown.map(
      (name) =>
        `${at(pointer, name)} is no setting of the executor ${executor}. Remove it. Settings: ${names}.`,
    ),
    ...Object.entries(settings).flatMap(([name, setting]) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      return checkSetting(at(pointer, name), setting, value);
    }),
  ];
}

function checkSetting(pointer: string, { type, isRequired }: Setting, value: unknown): string[] {
  if (value === undefined) {
    return isRequired ? [`${pointer} is missing. Set it to ${TYPES[type]}.`] : [];
  }
  const texts = type === "texts" ? value : [value];
  const isOfType = Array.isArray(texts) && texts.every((each) => typeof each === "string");
  if (!isOfType || texts.length > MAXIMUM_TEXTS) return [`${pointer} must be ${TYPES[type]}.`];
  return texts.flatMap((text, index) =>
    checkReferences(type === "texts" ? `${pointer}/${index}` : pointer, text),
  );
}

function checkReferences(pointer: string, text: string): string[] {
  const [unknown] = findUnknownReferences(text);
  if (unknown === undefined) return [];
  return [
    `${pointer} refers to ${quote(unknown)}, which does not exist. Use one of ` +
      `${REFERENCES.join(", ")}, or write $\${ for a text.`,
  ];
}

/** Replaces the references in settings that were checked. Paths are not resolved. */
export function resolveSettings(
  { settings }: Executor,
  { pointer, values }: GivenSettings,
  references: ReferenceValues,
): SettingValues {
  const resolved = Object.keys(settings).flatMap((name) => {
    if (!Object.hasOwn(values, name)) return [];
    const place = at(pointer, name);
    const value = values[name];
    return Array.isArray(value)
      ? [[name, value.map((text, index) => resolveText(`${place}/${index}`, text, references))]]
      : [[name, resolveText(place, String(value), references)]];
  });
  return Object.fromEntries(resolved);
}

function resolveText(pointer: string, text: string, references: ReferenceValues): string {
  try {
    const resolved = interpolate(text, references, MAXIMUM_TEXT_BYTES);
    if (/\p{Cc}/u.test(resolved)) {
      throw new TextError("has a control character, such as the end of a line. Remove it.");
    }
    if (resolved.startsWith("-") && !text.startsWith("-")) {
      throw new TextError(
        "would become an option, because the value of its reference begins with -.",
      );
    }
    return resolved;
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    throw new TextError(`${pointer} ${error.message}`);
  }
}

/** A JSON Pointer, as patches have it. */
export function at(pointer: string, name: string): string {
  return `${pointer}/${quote(name.replaceAll("~", "~0").replaceAll("/", "~1")).slice(1, -1)}`;
}
