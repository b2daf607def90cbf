/** What /docs/search.json has. Has no imports: the script in the browser reads it too. */
export interface SearchIndex {
  operations: IndexedOperation[];
  schemas: { name: string; url: string; fields: string[] }[];
  errors: { code: string; status: string; url: string }[];
  webhooks: { type: string; summary: string; url: string }[];
  /** Guides and their sections. */
  guides: { title: string; of: string | undefined; url: string }[];
}

export interface IndexedOperation {
  id: string;
  summary: string;
  method: string;
  path: string;
  url: string;
  /** Parameters, and fields of bodies that have no schema with its own section. */
  fields: string[];
}
