/** Whether people may follow it: a URL of the web without credentials. A browser ignores spaces and line breaks. */
export function isSafeUrl(text: string): boolean {
  const url = /\s/.test(text) ? null : URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password;
}
