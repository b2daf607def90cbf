import type { OpenApiDocument } from "../../../src/document/describe-api.ts";
import { type Contract, readContract } from "./contract.ts";
import type { Guide } from "./guide-markdown.ts";
import { NOT_FOUND_PAGE } from "./not-found-page.ts";
import { renderPage } from "./page.ts";
import { listPages, type Page } from "./pages.ts";
import { renderSearchIndex } from "./search-index.ts";

interface SiteContent {
  document: OpenApiDocument;
  guides: readonly Guide[];
  /** Changes with the script of the pages. */
  scriptHash: string;
}

/** The pages of the reference. */
export class Site {
  readonly pages: readonly Page[];
  readonly #contract: Contract;
  readonly #content: SiteContent;

  constructor(content: SiteContent) {
    this.#content = content;
    this.#contract = readContract(content.document);
    this.pages = listPages(this.#contract, content.guides);
  }

  render(page: Page): string {
    const { title } = this.#contract;
    const { scriptHash } = this.#content;
    return renderPage({ title, pages: this.pages, scriptHash }, page);
  }

  renderNotFound(): string {
    return this.render(NOT_FOUND_PAGE);
  }

  renderSearchIndex(): string {
    return renderSearchIndex(this.#contract, this.#content.guides);
  }
}
