import { announce } from "./announcements.ts";
import { createElement, findAll } from "./elements.ts";

const LABEL = "Copy";
const SHOWN_MS = 2_000;

export function addCopyButtons(): void {
  for (const figure of findAll("figure.sample")) {
    const pre = figure.querySelector("pre");
    if (!pre) continue;
    const title = pre.getAttribute("aria-label") ?? figure.querySelector("figcaption")?.textContent;
    const name = title ? `${LABEL} ${title}` : LABEL;
    const button = createElement(
      "button",
      { type: "button", class: "copy", "aria-label": name },
      LABEL,
    );
    button.addEventListener("click", () => void copy(pre, button));
    figure.append(button);
  }
}

async function copy(pre: HTMLElement, button: HTMLElement): Promise<void> {
  const text = pre.textContent;
  const copied = await writeToClipboard(text);
  if (!copied) getSelection()?.selectAllChildren(pre);
  const result = copied ? "Copied" : "Selected: press Ctrl+C";
  announce(result);
  button.textContent = result;
  setTimeout(() => {
    button.textContent = LABEL;
    announce("");
  }, SHOWN_MS);
}

/** False: the browser has no clipboard for this page, such as without HTTPS, or the user refuses. */
async function writeToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
