const MAXIMUM_CHARACTERS = 100;

/** In one line, and short enough for the reason of a stack. */
export function quote(text: string): string {
  const isLong = text.length > MAXIMUM_CHARACTERS;
  const short = isLong ? `${text.slice(0, MAXIMUM_CHARACTERS)}…` : text;
  return JSON.stringify(short).replaceAll(/\p{Cc}/gu, " ");
}
