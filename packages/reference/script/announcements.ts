import { createElement } from "./elements.ts";

let region: HTMLElement | undefined;

/** Tells it to screen readers. */
export function announce(text: string): void {
  if (!region) {
    region = createElement("p", { class: "announcement", role: "status" });
    document.body.append(region);
  }
  region.textContent = text;
}
