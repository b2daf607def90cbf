/**
 * What text fields accept, also as `pattern`s in the OpenAPI document. The syntax is common to
 * ECMAScript and RE2, so no lookaheads; matching takes linear time. Lone surrogates need a check
 * of their own, because RE2 cannot express them.
 */
const CONTROLS = "\\x00-\\x1F\\x7F-\\x9F";
const CONTROLS_EXCEPT_LINES = "\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F\\x7F-\\x9F";
/** With `CONTROLS`, all that `String.prototype.trim` removes. U+FEFF has no common escape. */
const BLANKS = "\\p{Z}\uFEFF";

export const LINE = new RegExp(`^[^${CONTROLS}]*$`, "u");
/** A line that is not blank. */
export const TEXT = new RegExp(`^[${BLANKS}]*[^${BLANKS}${CONTROLS}][^${CONTROLS}]*$`, "u");
/** Lines, with tabs. */
export const PARAGRAPHS = new RegExp(`^[^${CONTROLS_EXCEPT_LINES}]*$`, "u");

export const LONE_SURROGATES = "Send a text without lone surrogates.";
export const CONTROL_CHARACTERS = "Send a text without control characters.";

const ATOM = "[A-Za-z0-9_'+-]";
const LABEL = "[A-Za-z0-9][A-Za-z0-9-]*";

/** Accepts what zod's own pattern accepts, which uses lookaheads. */
export const EMAIL = new RegExp(
  `^(?:${ATOM}+\\.)*${ATOM}*[A-Za-z0-9_+-]@(?:${LABEL}\\.)+[A-Za-z]{2,}$`,
);
