/**
 * What text fields accept, also as `pattern`s in the OpenAPI document. Generated clients compile them, so the syntax is
 * common to ECMAScript without flags, Python's `re`, RE2 and Java, which test/pure/pattern-dialect.test.ts verifies.
 * Matching takes linear time. Lone surrogates need a check of their own, because RE2 cannot express them.
 */
const CONTROLS = "\\x00-\\x1F\\x7F-\\x9F";
const CONTROLS_EXCEPT_LINES = "\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F\\x7F-\\x9F";

export const LINE = new RegExp(`^[^${CONTROLS}]*$`);
/** A line that is not blank: `\s` is all that `String.prototype.trim` removes. In RE2 and Java, it is only ASCII. */
export const TEXT = new RegExp(`^[^\\S${CONTROLS}]*[^\\s${CONTROLS}][^${CONTROLS}]*$`);
/** Lines, with tabs. */
export const PARAGRAPHS = new RegExp(`^[^${CONTROLS_EXCEPT_LINES}]*$`);

export const LONE_SURROGATES = "Send a text without lone surrogates.";
export const CONTROL_CHARACTERS = "Send a text without control characters.";

/** What browsers accept (HTML, "valid e-mail address"): the domain is in ASCII, in another script as punycode. */
export const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;
