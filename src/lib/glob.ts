/** `*` stands for any number of characters other than `/`. Needs no backtracking. */
export function matchesGlob(pattern: string, text: string): boolean {
  const patterns = pattern.split("/");
  const segments = text.split("/");
  return (
    patterns.length === segments.length &&
    patterns.every((each, at) => matchesSegment(each, segments[at] ?? ""))
  );
}

/** The leftmost match of each literal leaves the most text for the literals after it. */
function matchesSegment(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const literal of rest) {
    const found = text.indexOf(literal, at);
    if (found < 0) return false;
    at = found + literal.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
