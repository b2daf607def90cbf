import { humanize, showHidden } from "../format.ts";
import { PageButtons } from "./dialog-buttons.tsx";
import { Section } from "./page.tsx";

interface DeleteSectionProps {
  /** Such as "project". */
  what: string;
  name: string;
  /** What is deleted with it. */
  content: string;
  /** Of the confirmation. */
  text: string;
  work: () => Promise<unknown>;
  leave: () => void;
}

/** Deletes the resource of the page with all that is in it. */
export function DeleteSection({ what, name, content, ...confirm }: DeleteSectionProps) {
  const verb = `Delete the ${what}`;
  const title = `Delete ${showHidden(name)}`;
  const done = `${humanize(what)} deleted.`;
  return (
    <Section title={verb}>
      <p>This deletes {content} for good.</p>
      <div>
        <PageButtons
          buttons={[
            {
              verb,
              kind: "danger",
              confirm: { title, verb: "Delete", typed: name, done, ...confirm },
            },
          ]}
        />
      </div>
    </Section>
  );
}
