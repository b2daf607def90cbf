import { describeTooLong } from "./interpolation.ts";
import { quote } from "./quote.ts";
import { findUnknownReferences, REFERENCES } from "./references.ts";
import { type Setting, type Settings, type SettingType, settingOfMember } from "./setting.ts";

/** Below what an operating system accepts as the argument of a program. */
export const MAXIMUM_TEXT_BYTES = 16_384;
export const MAXIMUM_TEXTS = 100;
/** Of a map or of values. */
export const MAXIMUM_NAMES = 200;
export const MAXIMUM_NAME_LENGTH = 255;
export const MAXIMUM_DEPTH = 10;

/** Members of a stack's object that are no settings of its executor (needs.ts). */
const OF_EVERY_STACK: readonly string[] = ["executor", "needs"];

const PATHS: readonly SettingType[] = ["file", "folder", "path", "files"];
/** Also one of Windows, whose runners have backslashes and drives. Links are followed in checkout.ts. */
const LEADS_ELSEWHERE = /^$|^[-/\\]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)/;

const TYPES: Record<SettingType, string> = {
  file: "the path of a file in the repository",
  folder: "the path of a folder in the repository",
  path: "the path of a file or folder in the repository",
  files: `a list of at most ${MAXIMUM_TEXTS} paths of files in the repository`,
  text: "a text",
  texts: `a list of at most ${MAXIMUM_TEXTS} texts`,
  boolean: "true or false",
  map: `an object with at most ${MAXIMUM_NAMES} texts, numbers or booleans`,
  values: `an object with at most ${MAXIMUM_NAMES} members`,
};

/** What a stack's object in the configuration has. */
export interface GivenSettings {
  /** Of the object, as a JSON Pointer in the configuration. */
  pointer: string;
  values: Readonly<Record<string, unknown>>;
}

/**
 * Before anything runs: what is wrong with the settings, and what to change. The service does not know which other
 * members the operator of a runner allows, so it accepts their names.
 */
export function checkSettings(
  { name: executor, settings }: { name: string; settings: Settings },
  { pointer, values }: GivenSettings,
  allowedMembers?: readonly string[],
): string[] {
  const unknown = Object.keys(values).filter(
    (name) => !OF_EVERY_STACK.includes(name) && !Object.hasOwn(settings, name),
  );
  const names = Object.keys(settings).join(", ");
  return [
    ...unknown.map(
      (name) =>
        `${at(pointer, name)} is no setting of the executor ${executor}. Remove it. Settings: ${names}.`,
    ),
    ...Object.entries(settings).flatMap(([name, setting]) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      const place = at(pointer, name);
      return [
        ...checkSetting(place, setting, value),
        ...(allowedMembers ? findOtherMembers(place, setting, value, allowedMembers) : []),
      ];
    }),
  ];
}

function checkSetting(pointer: string, setting: Setting, value: unknown): string[] {
  const description = describe(setting);
  if (value === undefined) {
    return setting.isRequired ? [`${pointer} is missing. Set it to ${description}.`] : [];
  }
  if (!isOfType(setting, value)) return [`${pointer} must be ${description}.`];
  if (isMapType(setting)) return checkMembers(pointer, setting, value);
  return Array.isArray(value)
    ? value.flatMap((text, index) => checkText(`${pointer}/${index}`, setting, text))
    : checkText(pointer, setting, value);
}

function findOtherMembers(
  pointer: string,
  { members }: Setting,
  value: unknown,
  allowed: readonly string[],
): string[] {
  if (!members || !isObject(value)) return [];
  const names = Object.keys(members.forms);
  return Object.keys(value)
    .filter((name) => isName(name) && !names.includes(name) && !allowed.includes(name))
    .map(
      (name) =>
        `${at(pointer, name)} is no member that a configuration may set on this runner. Use ${names.join(", ")}; ` +
        `set others in ${members.elsewhere}, or ask the runner's operator for ${members.option} ${quote(name).slice(1, -1)}.`,
    );
}

function describe({ type, choices }: Setting): string {
  if (!choices) return TYPES[type];
  const names = choices.join(", ");
  return type === "texts" ? `a list of any of: ${names}` : `one of: ${names}`;
}

/** What is wrong with a text that has no references, or whose references are replaced. */
export function findTextProblem(setting: Setting, text: string): string | undefined {
  const { type, choices, form } = setting;
  if (new TextEncoder().encode(text).length > MAXIMUM_TEXT_BYTES) {
    return describeTooLong(MAXIMUM_TEXT_BYTES);
  }
  // What a program reads from a file may have lines.
  if ((isMapType(setting) ? /(?![\t\r\n])\p{Cc}/u : /\p{Cc}/u).test(text)) {
    return "has a control character, such as the end of a line. Remove it.";
  }
  if (PATHS.includes(type) && LEADS_ELSEWHERE.test(text)) {
    return `must be ${TYPES[type === "files" ? "file" : type]}, without .. and without - at its start.`;
  }
  if (choices && !choices.includes(text)) return `must be one of: ${choices.join(", ")}.`;
  if (form && !form.pattern.test(text)) return `must be ${form.description}.`;
  return type === "text" && text.startsWith("-") ? "begins with -. Remove it." : undefined;
}

function isMapType({ type }: Setting): boolean {
  return type === "map" || type === "values";
}

function isOfType({ type, choices }: Setting, value: unknown): boolean {
  switch (type) {
    case "boolean":
      return typeof value === "boolean";
    case "files":
    case "texts":
      return (
        Array.isArray(value) &&
        value.length <= MAXIMUM_TEXTS &&
        value.every((each) => typeof each === "string" && (!choices || choices.includes(each)))
      );
    case "map":
    case "values": {
      if (!isObject(value)) return false;
      const members = Object.values(value);
      const isMap = members.every((each) => ["string", "number", "boolean"].includes(typeof each));
      return members.length <= MAXIMUM_NAMES && (type === "values" || isMap);
    }
    default:
      return typeof value === "string" && (!choices || choices.includes(value));
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The texts at any depth of a map or of values, and their names. */
function checkMembers(pointer: string, setting: Setting, value: unknown, depth = 1): string[] {
  if (typeof value !== "object" || value === null) return checkText(pointer, setting, value);
  if (depth > MAXIMUM_DEPTH) return [`${pointer} is nested more than ${MAXIMUM_DEPTH} deep.`];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([name, member]) => {
    const place = at(pointer, name);
    if (!isList && !isName(name)) {
      return [
        `${place} has a name that is empty, begins with -, has a control character, or has more than ` +
          `${MAXIMUM_NAME_LENGTH} characters.`,
      ];
    }
    return checkMembers(place, settingOfMember(setting, name), member, depth + 1);
  });
}

function isName(name: string): boolean {
  return name !== "" && name.length <= MAXIMUM_NAME_LENGTH && !/^-|\p{Cc}/u.test(name);
}

/** Of a text with references, only what they refer to: the rest is checked when they are replaced. */
function checkText(pointer: string, setting: Setting, value: unknown): string[] {
  if (typeof value !== "string") return [];
  const [unknown] = findUnknownReferences(value);
  if (unknown !== undefined) {
    return [
      `${pointer} refers to ${quote(unknown)}, which does not exist. Use one of ` +
        `${REFERENCES.join(", ")}, or write $\${ for a text.`,
    ];
  }
  const problem = value.includes("${") ? undefined : findTextProblem(setting, value);
  return problem === undefined ? [] : [`${pointer} ${problem}`];
}

/** A JSON Pointer, as patches have it. */
export function at(pointer: string, name: string): string {
  return `${pointer}/${quote(name.replaceAll("~", "~0").replaceAll("/", "~1")).slice(1, -1)}`;
}
