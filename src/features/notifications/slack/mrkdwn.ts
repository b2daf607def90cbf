/** More than a character has code units, but for one that is made to be long. */
const LONG_CHARACTER = 64;
const ELLIPSIS = "…";

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/**
 * A text of people's making as one line of Slack's mrkdwn, cut to a number of code units. What Slack
 * reads as control characters is escaped after the cut, and five times as long at the most.
 */
export function quote(text: string, maximum: number): string {
  const line = text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return shorten(line, maximum).replace(/[&<>]/g, (character) => ENTITIES[character] ?? "");
}

/** Cuts a text where a character ends, as a reader counts characters. */
export function shorten(text: string, maximum: number): string {
  if (text.length <= maximum) return text;
  let end = 0;
  for (const { index } of graphemesOf(text.slice(0, maximum + LONG_CHARACTER))) {
    if (index > maximum - ELLIPSIS.length) break;
    end = index;
  }
  return text.slice(0, end) + ELLIPSIS;
}

let segmenter: Intl.Segmenter | undefined;

/** Creates the segmenter at first use: it loads data, which would delay every start-up. */
function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}

/** A link whose label is mrkdwn already. */
export function link(url: string, label: string): string {
  return `<${url}|${label}>`;
}

/** A moment in the time zone of whoever reads it; `timestamp` where that cannot be shown. */
export function moment(timestamp: string): string {
  const seconds = Math.floor(Date.parse(timestamp) / 1000);
  return `<!date^${seconds}^{date_short_pretty} {time_secs}|${timestamp}>`;
}
