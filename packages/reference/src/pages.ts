import type { Contract } from "./contract.ts";
import type { Guide } from "./guide-markdown.ts";
import { renderGuide } from "./guides.ts";
import { OVERVIEW_PATH, pathOfGuide, pathOfTag, SCHEMAS_PATH, WEBHOOKS_PATH } from "./links.ts";
import type { Html } from "./markdown.ts";
import { renderOverview, sectionsOfOverview } from "./overview.ts";
import { renderSchemas } from "./schemas-page.ts";
import { renderTag } from "./tag-page.ts";
import { anchorOfWebhook, renderWebhooks } from "./webhooks.ts";

export interface Page {
  path: string;
  title: string;
  group: "Overview" | "Guides" | "Reference";
  /** What the contents list below the page while it is shown. */
  sections: Section[];
  render(): Html;
}

export interface Section {
  id: string;
  title: string;
  method?: string;
}

/** All pages, in the order of the contents. */
export function listPages(contract: Contract, guides: readonly Guide[]): Page[] {
  return [
    {
      path: OVERVIEW_PATH,
      title: "Overview",
      group: "Overview",
      sections: sectionsOfOverview(),
      render: () => renderOverview(contract),
    },
    ...guides.map((guide): Page => {
      const { slug, title, sections } = guide;
      const render = () => renderGuide(guide);
      return { path: pathOfGuide(slug), title, group: "Guides", sections, render };
    }),
    ...contract.tags.map((tag): Page => {
      const sections = tag.operations.map(({ id, method, summary }) => {
        return { id, method, title: summary };
      });
      const render = () => renderTag(tag, contract.schemas);
      return { path: pathOfTag(tag.name), title: tag.name, group: "Reference", sections, render };
    }),
    ...listWebhookPages(contract),
    {
      path: SCHEMAS_PATH,
      title: "Schemas",
      group: "Reference",
      sections: contract.schemas
        .linked()
        .toSorted()
        .map((name) => {
          return { id: `schema-${name}`, title: name };
        }),
      render: () => renderSchemas(contract.schemas),
    },
  ];
}

function listWebhookPages({ webhooks, schemas }: Contract): Page[] {
  if (webhooks.webhooks.length === 0) return [];
  const sections = webhooks.webhooks.map((each) => {
    return { id: anchorOfWebhook(each), title: each.summary };
  });
  const render = () => renderWebhooks(webhooks, schemas);
  return [{ path: WEBHOOKS_PATH, title: "Webhooks", group: "Reference", sections, render }];
}
