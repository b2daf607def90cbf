import { signal } from "@preact/signals";
import { ROOT } from "./router.ts";

/** Whether the service has another build of the console than this tab. */
export const isOutdated = signal(false);

/** Whether a field has text that a reload would discard. */
export const hasTypedText = signal(false);

const CHECKED_EVERY_MS = 60_000;

/** The text of a search is in the URL, or is quickly typed again. */
const TEXT_FIELDS = "textarea, input:not([type=search], [type=checkbox], [type=radio])";

/** Looks for another build when the person returns to the tab, at most once a minute. */
export function watchBuild(): void {
  const own = document.querySelector<HTMLMetaElement>("meta[name=build]")?.content;
  let checkedAt = Date.now();
  const check = async () => {
    if (document.hidden || isOutdated.value || Date.now() - checkedAt < CHECKED_EVERY_MS) return;
    checkedAt = Date.now();
    const current = await readBuild();
    isOutdated.value = current !== undefined && current !== own;
    findTypedText();
  };
  window.addEventListener("focus", check);
  document.addEventListener("visibilitychange", check);
  document.addEventListener("input", findTypedText);
  // A dialog that closes returns the focus.
  document.addEventListener("focusin", findTypedText);
}

/** Undefined while the service does not respond, or without an answer that a build gives. */
async function readBuild(): Promise<string | undefined> {
  try {
    const response = await fetch(`${ROOT}build.json`, { cache: "no-cache" });
    const { build } = response.ok ? await response.json() : {};
    return typeof build === "string" ? build : undefined;
  } catch {
    return undefined;
  }
}

export function findTypedText(): void {
  const fields = document.querySelectorAll<HTMLInputElement>(TEXT_FIELDS);
  hasTypedText.value = [...fields].some(({ value, defaultValue }) => value !== defaultValue);
}
