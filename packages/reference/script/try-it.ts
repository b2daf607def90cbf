import { createElement, findAll } from "./elements.ts";
import { adviseOn, buildRequest, type FilledForm, indent, type Parameter } from "./try-request.ts";

const TIMEOUT_MS = 60_000;
const SHOWN_HEADERS = [
  "content-type",
  "etag",
  "location",
  "retry-after",
  "x-request-id",
  "x-ratelimit-remaining",
];
const NO_RESPONSE =
  "No response. Check that you are online and that the server runs, then send it again.";

/** By kind of credential, for all forms of the page. Kept here only: a new page asks again. */
const keys = new Map<string, string>();

interface Field extends Parameter {
  input: HTMLInputElement;
}

/** Each form is created when it is opened. */
export function addTryIt(): void {
  for (const container of findAll("[data-try]")) {
    const article = container.closest("article");
    if (!article) continue;
    const details = createElement(
      "details",
      { class: "try" },
      createElement("summary", {}, "Try it"),
    );
    details.addEventListener("toggle", () => details.append(new TryForm(article).element), {
      once: true,
    });
    container.append(details);
    container.hidden = false;
  }
}

class TryForm {
  readonly element = createElement("form", { autocomplete: "off" });
  readonly #method: string;
  readonly #path: string;
  readonly #credential: string | undefined;
  readonly #key: HTMLInputElement | undefined;
  readonly #fields: readonly Field[];
  readonly #body: HTMLTextAreaElement | undefined;
  readonly #result = new Result();
  #isSending = false;

  constructor(article: HTMLElement) {
    const { id, dataset } = article;
    this.#method = dataset["method"] ?? "GET";
    this.#path = dataset["path"] ?? "/";
    this.#credential = dataset["credential"];
    this.#key = this.#credential === undefined ? undefined : createKeyInput(this.#credential);
    this.#fields = findAll("[data-parameter]", article).map(readParameter).map(createField);
    const example = dataset["body"];
    if (example !== undefined) {
      this.#body = createElement("textarea", { rows: "8", spellcheck: "false" });
      this.#body.value = indent(example);
    }
    const name = article.querySelector("h2")?.textContent ?? id;
    this.element.setAttribute("aria-label", `Try it: ${name}`);
    this.element.append(...this.#renderParts());
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#send();
    });
  }

  #renderParts(): HTMLElement[] {
    const key = this.#key && [
      label(describeKey(this.#credential), hintFor(this.#credential), this.#key),
    ];
    const body = this.#body && [label("Body", "JSON", this.#body)];
    const fields = this.#fields.map(({ name, location, isRequired, input }) =>
      label(name, `${location}${isRequired ? ", required" : ""}`, input),
    );
    const send = createElement("button", { type: "submit" }, `Send ${this.#method}`);
    const warning = warn(this.#method);
    return [
      ...(key ?? []),
      ...fields,
      ...(body ?? []),
      ...(warning ? [warning] : []),
      send,
      ...this.#result.elements,
    ];
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    const request = this.#build();
    if (!request) return;
    this.#isSending = true;
    this.#result.show("Sending…");
    try {
      const response = await fetch(request.url, {
        ...request.init,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      this.#result.showResponse(response, await response.text());
    } catch {
      this.#result.show(NO_RESPONSE);
    } finally {
      this.#isSending = false;
    }
  }

  /** Undefined: the body is not JSON. */
  #build() {
    const body = this.#body;
    body?.removeAttribute("aria-invalid");
    try {
      return buildRequest(this.#read());
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#result.show(`Not sent: correct the body, which is not JSON. ${reason}`);
      body?.setAttribute("aria-invalid", "true");
      body?.focus();
      return undefined;
    }
  }

  #read(): FilledForm {
    return {
      method: this.#method,
      path: this.#path,
      credential: this.#credential,
      key: this.#key?.value.trim() ?? "",
      values: this.#fields.map(({ name, location, input }) => ({
        name,
        location,
        value: input.value,
      })),
      body: this.#body?.value,
    };
  }
}

/** The status is announced; the body, which may be long, is not. */
class Result {
  readonly #status = createElement("output");
  readonly #body = createElement("pre", {
    tabindex: "0",
    role: "group",
    "aria-label": "Body of the response",
  });
  readonly elements = [this.#status, this.#body];

  constructor() {
    this.#body.hidden = true;
  }

  show(status: string, ...headers: readonly HTMLElement[]): void {
    this.#status.replaceChildren(status, ...headers);
    this.#body.hidden = true;
  }

  showResponse({ status, statusText, headers }: Response, body: string): void {
    const shown = SHOWN_HEADERS.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [createElement("small", {}, `${name}: ${value}`)];
    });
    const parts = [
      `${status} ${statusText}`.trim(),
      adviseOn(status),
      body === "" ? "No body." : "",
    ];
    this.show(parts.filter((part) => part !== "").join(". "), ...shown);
    this.#body.textContent = indent(body);
    this.#body.hidden = body === "";
  }
}

function readParameter(row: HTMLElement): Parameter {
  const { dataset } = row;
  return {
    name: dataset["parameter"] ?? "",
    location: dataset["in"] ?? "",
    isRequired: dataset["required"] !== undefined,
    example: dataset["example"],
  };
}

function createField(parameter: Parameter): Field {
  const attributes = {
    autocomplete: "off",
    spellcheck: "false",
    placeholder: parameter.example,
    required: parameter.isRequired,
  };
  return { ...parameter, input: createElement("input", attributes) };
}

function createKeyInput(credential: string): HTMLInputElement {
  const input = createElement("input", {
    type: "password",
    autocomplete: "off",
    "data-key": credential,
  });
  input.value = keys.get(credential) ?? "";
  input.addEventListener("input", () => {
    keys.set(credential, input.value);
    for (const other of document.querySelectorAll<HTMLInputElement>("[data-key]")) {
      if (other !== input && other.dataset["key"] === credential) other.value = input.value;
    }
  });
  return input;
}

function describeKey(credential = ""): string {
  const words = credential.replaceAll("_", " ").replace(/^api\b/, "API");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function hintFor(credential: string | undefined): string {
  const kept = "kept in memory until you leave the page";
  return credential === "api_key" ? `${kept}; without one, your session at the console` : kept;
}

function label(name: string, hint: string, control: HTMLElement): HTMLElement {
  return createElement("label", {}, name, " ", createElement("small", {}, hint), control);
}

function warn(method: string): HTMLElement | undefined {
  if (method === "GET") return undefined;
  const effect = method === "DELETE" ? "This deletes data" : "This changes data";
  return createElement("p", { class: "warning" }, `${effect} on ${location.host}.`);
}
