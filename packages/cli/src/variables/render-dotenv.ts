import { CliError } from "../errors.ts";

interface Form {
  accepts(value: string): boolean;
  render(value: string): string;
}

/**
 * How dotenv reads back exactly the value, the most widely understood form first. dotenv has no escapes
 * but `\n` and `\r` in double quotes, and no form ends in a backslash and a quote.
 */
const FORMS: readonly Form[] = [
  { accepts: (value) => /^[\w.:/@%+,=-]*$/.test(value), render: (value) => value },
  { accepts: (value) => !/['\r]|\\$/.test(value), render: (value) => `'${value}'` },
  {
    accepts: (value) => !/"|\\[nr]|\\$/.test(value),
    render: (value) => `"${value.replaceAll("\r", "\\r")}"`,
  },
  { accepts: (value) => !/[`\r]|\\$/.test(value), render: (value) => `\`${value}\`` },
  {
    accepts: (value) => !/#|[\r\n\u2028\u2029]|^['"`]/.test(value) && value.trim() === value,
    render: (value) => value,
  },
];

/** The lines of a `.env` file. Throws a `CliError` for a value that the format cannot have. */
export function renderDotenv(variables: readonly { name: string; value: string }[]): string {
  return variables.map(renderLine).join("");
}

function renderLine({ name, value }: { name: string; value: string }): string {
  const form = FORMS.find(({ accepts }) => accepts(value));
  if (form && /^[A-Za-z_]\w*$/.test(name) && name !== "__proto__") {
    return `${name}=${form.render(value)}\n`;
  }
  throw new CliError(
    `A .env file cannot have ${JSON.stringify(name)} with its value. Read it with: longshore vars get. Nothing was written.`,
  );
}
