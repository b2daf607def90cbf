import { signal } from "@preact/signals";

/** What the live region says, and the toast shows. */
export const announcement = signal("");

const SHOWN_MS = 6_000;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Tells the person, also with a screen reader, what has happened. */
export function announce(text: string): void {
  clearTimeout(timer);
  announcement.value = text;
  timer = setTimeout(() => {
    announcement.value = "";
  }, SHOWN_MS);
}
