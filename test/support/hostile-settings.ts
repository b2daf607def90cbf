import type {
  Setting,
  Settings,
  SettingType,
} from "../../packages/runner/src/executors/setting.ts";
import { EXECUTOR_SETTINGS } from "../../packages/runner/src/executors/settings-list.ts";

/** A setting of an executor that has a text somewhere. */
export interface TextSetting {
  executor: string;
  name: string;
  setting: Setting;
}

/** A text, and a part of the reason with which it is refused. */
export interface HostileText {
  text: string;
  reason: string;
}

const PATHS: readonly SettingType[] = ["file", "folder", "path", "files"];
const LISTS: readonly SettingType[] = ["files", "texts"];
const MAPS: readonly SettingType[] = ["map", "values"];

export const isPath = ({ type }: Setting) => PATHS.includes(type);
export const isMap = ({ type }: Setting) => MAPS.includes(type);

/** Of all executors: a new one is in all tests of this table. */
export const TEXT_SETTINGS: readonly TextSetting[] = Object.entries(EXECUTOR_SETTINGS).flatMap(
  ([executor, settings]) =>
    Object.entries(settings).flatMap(([name, setting]) =>
      setting.type === "boolean" ? [] : [{ executor, name, setting }],
    ),
);

/** What a stack's object in the configuration has with this text. */
export function withText({ executor, name, setting }: TextSetting, text: string): object {
  return withValue(executor, name, toValue(setting, text));
}

/** The same with this name in a map. */
export function withName({ executor, name }: TextSetting, member: string): object {
  return withValue(executor, name, JSON.parse(`{${JSON.stringify(member)}: "x"}`));
}

function withValue(executor: string, name: string, value: unknown): object {
  return { executor, ...requiredSettings(EXECUTOR_SETTINGS[executor] ?? {}), [name]: value };
}

function toValue({ type, members }: Setting, text: string): unknown {
  if (LISTS.includes(type)) return [text];
  const [name = "NAME"] = Object.keys(members?.forms ?? {});
  return MAPS.includes(type) ? { [name]: text } : text;
}

/** With the file `deploy.sh` of the commit. */
export function requiredSettings(settings: Settings): object {
  const required = Object.entries(settings).filter(([, { isRequired }]) => isRequired);
  return Object.fromEntries(
    required.map(([name, setting]) => {
      const text = setting.choices?.[0] ?? (setting.type === "folder" ? "." : "deploy.sh");
      return [name, toValue(setting, text)];
    }),
  );
}

const OUTSIDE = [
  ...["..", "../deploy.sh", "a/../../deploy.sh", "/bin/sh", "--help", "-x", ""],
  ...["a\\..\\..\\deploy.sh", "C:\\deploy.sh"],
];

/** Refused wherever a text is, whether the configuration has it or a reference leads to it. */
export function hostileTexts({ setting }: TextSetting): HostileText[] {
  const { type, choices, members } = setting;
  const { form = Object.values(members?.forms ?? {})[0] } = setting;
  const control = "has a control character";
  const texts = [
    { text: "a\u0000b", reason: control },
    ...(isMap(setting) ? [] : [{ text: "a\nb", reason: control }]),
    { text: "x".repeat(1_048_576), reason: "has more than 16,384 bytes" },
    ...(isPath(setting) ? OUTSIDE.map((text) => ({ text, reason: "must be the path of a" })) : []),
    ...(form || choices ? NO_NAMES.map((text) => ({ text, reason: "must be" })) : []),
    ...(type === "text" && !form && !choices
      ? ["--help", "-x"].map((text) => ({ text, reason: "begins with -" }))
      : []),
  ];
  return choices ? texts.map(({ text }) => ({ text, reason: "must be" })) : texts;
}

/** What no deployment has a value for. */
export function unknownReferences({ setting }: TextSetting): HostileText[] {
  const reason = setting.choices ? "must be" : "which does not exist. Use one of";
  return UNKNOWN_REFERENCES.map((text) => ({ text, reason }));
}

const NO_NAMES = ["--help", "-x", "..", "../x"];
const UNKNOWN_REFERENCES = [
  ...["${secrets.X}", "${outputs.A}", "${env.HOME}", "${variables.}", "${}", "${", "${stack.id}"],
  ...["${variables.${stack.name}}", "${outputs.${variables.A}.url}", "${$${stack.name}}"],
];

export const HOSTILE_NAMES = ["--help", "-x", "a\nb", "a\u0000b", "", "x".repeat(256)];
