import type { SearchIndex } from "../src/index-format.ts";
import { announce } from "./announcements.ts";
import { createElement } from "./elements.ts";
import { type Entry, findEntries } from "./ranking.ts";
import { entriesOf } from "./search-entries.ts";

const INDEX_URL = "/docs/search.json";
const LISTBOX_ID = "search-results";
const UNAVAILABLE = "The search could not load. Reload the page, or use the contents.";

export function addSearch(): void {
  const container = document.getElementById("search");
  if (!container) return;
  const search = new Search(container);
  addEventListener("keydown", (event) => {
    const isShortcut = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isShortcut || isEditable(event.target)) return;
    event.preventDefault();
    search.focus();
  });
}

function isEditable(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches("input, textarea, select");
}

/** https://www.w3.org/WAI/ARIA/apg/patterns/combobox/ */
class Search {
  readonly #input = createElement("input", {
    id: "search-input",
    type: "search",
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-controls": LISTBOX_ID,
    "aria-expanded": "false",
    "aria-keyshortcuts": "/",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
  });
  readonly #listbox = createElement("div", {
    id: LISTBOX_ID,
    role: "listbox",
    "aria-label": "Results",
  });
  readonly #message = createElement("small");
  #entries: Entry[] | undefined;
  #isLoading = false;
  #results: Entry[] = [];
  #active = -1;

  constructor(container: HTMLElement) {
    const key = createElement("kbd", {}, "/");
    const label = createElement("label", { for: this.#input.id }, "Search ", key);
    this.#listbox.hidden = true;
    container.append(label, this.#input, this.#listbox, this.#message);
    container.classList.add("search");
    container.setAttribute("role", "search");
    container.hidden = false;
    this.#input.addEventListener("focus", () => void this.#load());
    this.#input.addEventListener("input", () => this.#search());
    this.#input.addEventListener("keydown", (event) => this.#handleKey(event));
    this.#input.addEventListener("blur", () => this.#close());
    // Otherwise the input loses the focus, and the results close before the click.
    this.#listbox.addEventListener("mousedown", (event) => event.preventDefault());
    this.#listbox.addEventListener("click", (event) => this.#handleClick(event));
  }

  focus(): void {
    this.#input.focus();
    this.#input.select();
  }

  async #load(): Promise<void> {
    if (this.#entries || this.#isLoading) return;
    this.#isLoading = true;
    try {
      const response = await fetch(INDEX_URL);
      if (!response.ok) throw new Error(`Status ${response.status}`);
      const index: SearchIndex = await response.json();
      this.#entries = entriesOf(index);
      this.#search();
    } catch {
      this.#tell(UNAVAILABLE);
    } finally {
      this.#isLoading = false;
    }
  }

  #search(): void {
    const query = this.#input.value;
    if (!this.#entries) return;
    this.#results = findEntries(this.#entries, query);
    this.#listbox.replaceChildren(...this.#results.map(renderOption));
    this.#listbox.scrollTop = 0;
    this.#listbox.hidden = this.#results.length === 0;
    this.#input.setAttribute("aria-expanded", String(this.#results.length > 0));
    this.#activate(this.#results.length > 0 ? 0 : -1);
    const isEmpty = query.trim() !== "" && this.#results.length === 0;
    this.#tell(isEmpty ? "No results. Try fewer letters." : "");
  }

  #tell(message: string): void {
    this.#message.textContent = message;
    if (message) announce(message);
  }

  #handleKey(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      // The first one closes the results; a second one clears the input.
      if (this.#listbox.hidden) this.#input.value = "";
      this.#close();
      event.preventDefault();
    }
    if (this.#listbox.hidden && event.key === "ArrowDown") this.#search();
    else if (event.key === "ArrowDown") this.#move(1);
    else if (event.key === "ArrowUp") this.#move(-1);
    else if (event.key === "Enter") this.#open(this.#active);
    else return;
    event.preventDefault();
  }

  #move(by: number): void {
    const { length } = this.#results;
    if (length > 0) this.#activate((this.#active + by + length) % length);
  }

  #activate(at: number): void {
    this.#active = at;
    for (const [index, option] of [...this.#listbox.children].entries()) {
      option.setAttribute("aria-selected", String(index === at));
    }
    const option = this.#listbox.children[at];
    if (!option) {
      this.#input.removeAttribute("aria-activedescendant");
      return;
    }
    this.#input.setAttribute("aria-activedescendant", option.id);
    if (option instanceof HTMLElement) scrollWithin(this.#listbox, option);
  }

  #handleClick({ target }: Event): void {
    const option = target instanceof Element ? target.closest("[role=option]") : null;
    if (option) this.#open([...this.#listbox.children].indexOf(option));
  }

  #open(at: number): void {
    const result = this.#results[at];
    if (!result || this.#listbox.hidden) return;
    this.#close();
    this.#input.blur();
    location.assign(result.url);
  }

  #close(): void {
    this.#listbox.hidden = true;
    this.#input.setAttribute("aria-expanded", "false");
    this.#input.removeAttribute("aria-activedescendant");
  }
}

function renderOption({ title, detail }: Entry, at: number): HTMLElement {
  const attributes = { id: `${LISTBOX_ID}-${at}`, role: "option", "aria-selected": "false" };
  return createElement("div", attributes, title, createElement("small", {}, detail));
}

function scrollWithin(list: HTMLElement, option: HTMLElement): void {
  const top = option.offsetTop;
  const bottom = top + option.offsetHeight;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
}
