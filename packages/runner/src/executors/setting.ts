/**
 * What a setting may be. Each text may have references (interpolation.ts). A `map` has texts, numbers and booleans
 * by names, and becomes texts; `values` is any JSON by names, such as the variables of a module.
 */
export interface SettingTypes {
  file: string;
  folder: string;
  /** A file or a folder. */
  path: string;
  files: readonly string[];
  text: string;
  texts: readonly string[];
  boolean: boolean;
  map: Readonly<Record<string, string>>;
  values: Readonly<Record<string, unknown>>;
}

export type SettingType = keyof SettingTypes;

/** What a text must look like. */
export interface TextForm {
  pattern: RegExp;
  /** As the end of a sentence that begins with `must be`. */
  description: string;
}

export interface Setting {
  type: SettingType;
  isRequired?: boolean;
  /** All that a `text` may be, or each of the `texts`. */
  choices?: readonly string[];
  /** Of a `text`, or of each of the `texts`. */
  form?: TextForm;
  /** The schema of `values`, if a configuration may set these members alone. */
  members?: Members;
}

export interface Members {
  /** What each text must look like; undefined for any text. */
  forms: Readonly<Record<string, TextForm | undefined>>;
  /** The option of the runner with which its operator allows another member. */
  option: string;
  /** Where else a member can be set. */
  elsewhere: string;
}

/** What a member of a map or of values must be. */
export function settingOfMember(setting: Setting, name: string): Setting {
  const { type, members } = setting;
  if (!members) return setting;
  const form = Object.hasOwn(members.forms, name) ? members.forms[name] : undefined;
  return { type, ...(form && { form }) };
}

export type Settings = Readonly<Record<string, Setting>>;

/** What an executor gets: references are replaced, and paths are the real ones in the checkout. */
export type SettingValues<S extends Settings = Settings> = {
  readonly [Name in keyof S]?: SettingTypes[S[Name]["type"]];
};
