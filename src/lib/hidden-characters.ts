/** The flags of England, Scotland and Wales. */
const FLAG =
  "\\u{1F3F4}\\u{E0067}\\u{E0062}(?:\\u{E0065}\\u{E006E}\\u{E0067}|\\u{E0073}\\u{E0063}\\u{E0074}|\\u{E0077}\\u{E006C}\\u{E0073})\\u{E007F}";
const IN_EMOJI =
  "(?<=\\p{ExtPict}\\uFE0F?|\\p{EMod})\\u200D(?=\\p{ExtPict})|(?<=\\p{ExtPict})(?:\\uFE0E|\\uFE0F)|(?<=[#*0-9])\\uFE0F(?=\\u20E3)";
/** Persian and the scripts of India need it. Fillers and variation selectors are letters and marks, and hidden. */
const BETWEEN_LETTERS =
  "(?<=(?!\\p{DI})[\\p{L}\\p{M}])[\\u200C\\u200D](?=(?!\\p{DI})[\\p{L}\\p{M}])";
/** Invisible, or of an effect on the direction, the lines or the layout of a text. */
const HIDDEN = "[\\p{DI}\\u2028\\u2029\\uFFF9-\\uFFFB\\u{13430}-\\u{1343F}]";

/** Finds hidden characters, each as the first group. A match without the group is a part of an emoji or a word. */
export const HIDDEN_CHARACTERS = new RegExp(
  `${FLAG}|${IN_EMOJI}|${BETWEEN_LETTERS}|(${HIDDEN})`,
  "gu",
);

/** The first hidden character of a text, such as `U+200B`. */
export function findHidden(text: string): string | undefined {
  for (const [, hidden] of text.matchAll(HIDDEN_CHARACTERS)) {
    if (hidden !== undefined) return `U+${codeOf(hidden)}`;
  }
  return undefined;
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}
