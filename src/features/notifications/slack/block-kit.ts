/** In code units. Only a grapheme that is crafted to be long is longer. */
const LONGEST_GRAPHEME = 64;
const ELLIPSIS = "…";

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/**
 * A text that users wrote, as one line of mrkdwn, shortened to `maximumLength` code units. Slack's
 * control characters are escaped after that, which makes the text up to five times as long.
 */
export function quote(text: string, maximumLength: number): string {
  const line = text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return escapeText(shorten(line, maximumLength));
}

function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (character) => ENTITIES[character] ?? "");
}

export function shorten(text: string, maximumLength: number): string {
  if (text.length <= maximumLength) return text;
  let end = 0;
  for (const { index } of graphemesOf(text.slice(0, maximumLength + LONGEST_GRAPHEME))) {
    if (index > maximumLength - ELLIPSIS.length) break;
    end = index;
  }
  return text.slice(0, end) + ELLIPSIS;
}

let segmenter: Intl.Segmenter | undefined;

/** Created at first use: it loads data, which would delay every start-up. */
function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}

/** `label` is mrkdwn. */
export function link(url: string, label: string): string {
  return `<${url}|${label}>`;
}

/** A URL that shows itself. Slack takes what follows a `|` for another label. */
export function urlLink(url: URL): string {
  return `<${escapeText(url.href.replaceAll("|", "%7C"))}>`;
}

/** In the reader's time zone; `timestamp` where the client cannot show it. */
export function dateTime(timestamp: string): string {
  const seconds = Math.floor(Date.parse(timestamp) / 1000);
  return `<!date^${seconds}^{date_short_pretty} {time_secs}|${timestamp}>`;
}

export type Block = ReturnType<typeof header | typeof section | typeof fields | typeof context>;

/** `verbatim` keeps Slack from linking names that look like channels, people or addresses. */
function mrkdwn(text: string) {
  return { type: "mrkdwn", text, verbatim: true };
}

/** At most 150 characters. */
export function header(text: string) {
  return { type: "header", text: { type: "plain_text", text, emoji: true } };
}

/** At most 3,000 characters. */
export function section(text: string) {
  return { type: "section", text: mrkdwn(text) };
}

/** At most ten, each of at most 2,000 characters. */
export function fields(texts: Readonly<Record<string, string>>) {
  const items = Object.entries(texts).map(([label, text]) => mrkdwn(`*${label}*\n${text}`));
  return { type: "section", fields: items };
}

export function context(text: string) {
  return { type: "context", elements: [mrkdwn(text)] };
}
