import type { OpenApiDocument } from "../document/describe-api.ts";
import { NotFound } from "../lib/errors.ts";
import { type Contract, readContract } from "./contract.ts";
import { renderPage } from "./page.ts";
import { listPages, type Page } from "./pages.ts";

/** The pages of the reference. Each is rendered once. */
export class Site {
  readonly contract: Contract;
  readonly pages: readonly Page[];
  readonly #rendered = new Map<string, string>();

  constructor(document: OpenApiDocument) {
    this.contract = readContract(document);
    this.pages = listPages(this.contract);
  }

  /** @throws NotFound if there is no such page. */
  read(path: string): string {
    const found = this.#rendered.get(path);
    if (found !== undefined) return found;
    const page = this.pages.find((each) => each.path === path);
    if (!page) throw new NotFound("page");
    const text = renderPage(this.contract.title, this.pages, page);
    this.#rendered.set(path, text);
    return text;
  }
}
