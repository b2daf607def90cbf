/** A text with Slack's markup. Names in it are not taken for channels, people or addresses. */
function mrkdwn(text: string) {
  return { type: "mrkdwn", text, verbatim: true };
}

export type Block = ReturnType<typeof header | typeof section | typeof fields | typeof context>;

/** A headline: plain text, 150 characters at the most. */
export function header(text: string) {
  return { type: "header", text: { type: "plain_text", text, emoji: true } };
}

/** A text of 3,000 characters at the most. */
export function section(text: string) {
  return { type: "section", text: mrkdwn(text) };
}

/** Up to ten short texts in two columns, each under its name; 2,000 characters each at the most. */
export function fields(named: Readonly<Record<string, string>>) {
  const each = Object.entries(named).map(([name, text]) => mrkdwn(`*${name}*\n${text}`));
  return { type: "section", fields: each };
}

/** Small print. */
export function context(text: string) {
  return { type: "context", elements: [mrkdwn(text)] };
}
