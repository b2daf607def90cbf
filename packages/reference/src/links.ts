/** Where the pages of the reference have what. */
export const OVERVIEW_PATH = "/docs";
export const SCHEMAS_PATH = "/docs/schemas";
export const WEBHOOKS_PATH = "/docs/webhooks";
export const SCRIPT_PATH = "/docs/reference.js";
export const SEARCH_INDEX_PATH = "/docs/search.json";
const GUIDES_PATH = "/docs/guides";

export function pathOfTag(name: string): string {
  return `${OVERVIEW_PATH}/${slugOf(name)}`;
}

export function pathOfGuide(slug: string): string {
  return `${GUIDES_PATH}/${slug}`;
}

export function linkToOperation(tag: string, id: string): string {
  return `${pathOfTag(tag)}#${id}`;
}

export function linkToSchema(name: string): string {
  return `${SCHEMAS_PATH}#schema-${name}`;
}

export function linkToError(code: string): string {
  return `${OVERVIEW_PATH}#error-${code}`;
}

export function linkToCredential(id: string): string {
  return `${OVERVIEW_PATH}#credential-${id}`;
}

export function linkToScope(scope: string): string {
  return `${OVERVIEW_PATH}#${anchorOfScope(scope)}`;
}

export function anchorOfScope(scope: string): string {
  return `scope-${slugOf(scope)}`;
}

/** The paragraph of the introduction that lists the rate limit policies. */
export function linkToPolicies(): string {
  return `${OVERVIEW_PATH}#about-the-policies`;
}

/** "api-keys" for "API keys". */
export function slugOf(text: string): string {
  return text.toLowerCase().replaceAll(/\W+/g, "-");
}
