import { HIDDEN_CHARACTERS } from "../../../src/lib/hidden-characters.ts";

/**
 * Shows control characters, which a terminal would obey, as `\x1b`, and hidden ones, as `\u200b`. Records and logs are
 * hostile text.
 */
export function toPlainText(text: string): string {
  return escapeHidden(text.replaceAll(CONTROLS, escapeOne), escapeOne);
}

/** The same for JSON, whose line breaks are its own, as escapes of JSON. */
export function toPlainJson(json: string): string {
  return escapeHidden(json.replaceAll(CONTROLS_IN_JSON, escapeUnits), escapeUnits);
}

const CONTROLS_IN_JSON = /[\u007f-\u009f]/g;

/** Except the tab. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it finds.
const CONTROLS = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/g;

function escapeHidden(text: string, escapes: (character: string) => string): string {
  return text.replaceAll(HIDDEN_CHARACTERS, (part, hidden?: string) =>
    hidden === undefined ? part : escapes(hidden),
  );
}

function escapeOne(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16).padStart(2, "0");
  if (code < 0x100) return `\\x${digits}`;
  return code > 0xffff ? `\\u{${digits}}` : `\\u${digits}`;
}

/** For JSON: each UTF-16 unit. */
function escapeUnits(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
