/** A shorter value would mask parts of ordinary words. */
const MINIMUM_LENGTH = 4;
/** Of a line of a value, and of the middle of its base64. */
const MINIMUM_PART_LENGTH = 8;
/** At which `base64` and `openssl` break lines. */
const LINE_WIDTHS = [76, 64] as const;

/** The texts by which a secret value is recognized in output: itself, and its usual encodings. */
export function secretForms(value: string): Buffer[] {
  if (value.length < MINIMUM_LENGTH) return [];
  const json = JSON.stringify(value).slice(1, -1);
  const forms = [
    value,
    value.replaceAll("\n", "\r\n"),
    ...linesOf(value),
    json,
    json.replaceAll("/", "\\/"),
    // As Go writes it.
    json.replaceAll("&", "\\u0026").replaceAll("<", "\\u003c").replaceAll(">", "\\u003e"),
    ...urlForms(value),
    ...base64Forms(Buffer.from(value)),
  ];
  return [...new Set(forms)]
    .filter((form) => form.length >= MINIMUM_LENGTH)
    .map((form) => Buffer.from(form));
}

/** Programs print the lines of a value with other text between them. */
function linesOf(value: string): string[] {
  const lines = value.split(/\r?\n/);
  if (lines.length === 1) return [];
  return lines.map((line) => line.trim()).filter((line) => line.length >= MINIMUM_PART_LENGTH);
}

function urlForms(value: string): string[] {
  const component = encodeURIComponent(value.toWellFormed());
  const strict = component.replaceAll(/[!'()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  const form = new URLSearchParams({ "": value }).toString().slice(1);
  return [component, strict, form].flatMap((each) => [
    each,
    each.replaceAll(/%[0-9A-F]{2}/g, (escaped) => escaped.toLowerCase()),
  ]);
}

/** Alone, and within the base64 of a longer text, where its bytes begin at one of three places in a group. */
function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString("base64");
  const wrapped = LINE_WIDTHS.filter((width) => whole.length > width).flatMap((width) => {
    const lines = whole.match(new RegExp(`.{1,${width}}`, "g")) ?? [];
    return [lines.join("\n"), lines.join("\r\n")];
  });
  const within = [0, 1, 2].flatMap((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
    const groups = shifted.slice(shift === 0 ? 0 : 4);
    // The last group depends on what follows, unless the value ends the text.
    return (bytes.length + shift) % 3 === 0 ? [groups] : [groups, groups.slice(0, -4)];
  });
  const standard = [whole, whole.replace(/=+$/, ""), ...within.filter(isLong)];
  const urlSafe = standard.map((each) => each.replaceAll("+", "-").replaceAll("/", "_"));
  return [...standard, ...urlSafe, ...wrapped];
}

function isLong(text: string): boolean {
  return text.length >= MINIMUM_PART_LENGTH;
}
