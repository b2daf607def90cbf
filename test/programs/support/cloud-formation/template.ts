/** What the stand-in reads of a template. Texts are as they are written, with references to parameters. */
export interface Template {
  parameters: Record<string, { default?: string | undefined; isHidden: boolean }>;
  resources: Record<string, { type: string; body: string }>;
  outputs: Record<string, string>;
}

/** JSON, or YAML whose sections have an indentation of two spaces for each level. */
export function readTemplate(text: string): Template {
  return text.trimStart().startsWith("{") ? readJson(JSON.parse(text)) : readYaml(text);
}

interface JsonTemplate {
  Parameters?: Record<string, { Default?: unknown; NoEcho?: boolean }>;
  Resources?: Record<string, { Type: string }>;
  Outputs?: Record<string, { Value: unknown }>;
}

function readJson({ Parameters = {}, Resources = {}, Outputs = {} }: JsonTemplate): Template {
  return {
    parameters: mapValues(Parameters, ({ Default, NoEcho }) => ({
      default: Default === undefined ? undefined : String(Default),
      isHidden: NoEcho === true,
    })),
    resources: mapValues(Resources, (each) => ({ type: each.Type, body: toText(each) })),
    outputs: mapValues(Outputs, ({ Value }) => toText(Value)),
  };
}

/** `{"Ref": "Name"}` as YAML has it. */
function toText(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text
    .replaceAll(/\{"Ref":"(\w+)"\}/g, "!Ref $1")
    .replaceAll(/\{"Fn::GetAtt":\["(\w+)","(\w+)"\]\}/g, "!GetAtt $1.$2");
}

function readYaml(text: string): Template {
  const { Parameters = "", Resources = "", Outputs = "" } = divide(text, "");
  const readValue = (body: string, name: string) =>
    new RegExp(`^ {4}${name}: (.*)$`, "m").exec(body)?.[1]?.replaceAll('"', "");
  return {
    parameters: mapValues(divide(Parameters, "  "), (body) => ({
      default: readValue(body, "Default"),
      isHidden: readValue(body, "NoEcho") === "true",
    })),
    resources: mapValues(divide(Resources, "  "), (body) => ({
      type: readValue(body, "Type") ?? "",
      body,
    })),
    outputs: mapValues(divide(Outputs, "  "), (body) => readValue(body, "Value") ?? ""),
  };
}

/** The members of a level, with the lines below each. */
function divide(text: string, indentation: string): Record<string, string> {
  const members: Record<string, string> = {};
  let name = "";
  for (const line of text.split("\n")) {
    const [, key, rest = ""] = new RegExp(`^${indentation}(\\w+):(.*)$`).exec(line) ?? [];
    if (key !== undefined) {
      name = key;
      members[name] = rest;
    } else if (name !== "") members[name] += `\n${line}`;
  }
  return members;
}

/** Replaces references to parameters. */
export function fill(text: string, parameters: Readonly<Record<string, string>>): string {
  return text
    .replaceAll(/!Ref (\w+)/g, (whole, name) => parameters[name] ?? whole)
    .replaceAll(/\$\{(\w+)\}/g, (whole, name) => parameters[name] ?? whole);
}

function mapValues<T, U>(values: Record<string, T>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
