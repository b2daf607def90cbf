/** Shows control characters, which a terminal would obey, as `\x1b`. Records and logs are hostile text. */
export function toPlainText(text: string): string {
  return text.replaceAll(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
  });
}

/** The same for JSON, whose line breaks are its own, as escapes of JSON. */
export function toPlainJson(json: string): string {
  return json.replaceAll(HIDDEN_IN_JSON, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

const HIDDEN_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Controls except the tab, and marks that change the direction of the text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it finds.
const HIDDEN = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
