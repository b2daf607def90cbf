import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field } from "../../components/form.tsx";
import { currentWho } from "../../session.ts";

interface ExportLogProps {
  /** The filters of the page. */
  query: Readonly<Record<string, string | readonly string[]>>;
}

/** Downloads the audit log of a range of times. */
export function ExportLog({ query }: ExportLogProps) {
  const [isOpen, setOpen] = useState(false);
  const [range, setRange] = useState({ from: "", to: "" });
  const { organization } = currentWho();
  const parameters = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  );
  for (const [name, value] of Object.entries(range)) {
    const time = Date.parse(value);
    if (!Number.isNaN(time)) parameters.set(name, new Date(time).toISOString());
  }
  return (
    <>
      <Button onClick={() => setOpen(true)}>Export…</Button>
      {isOpen && (
        <Dialog title="Export the audit log" onClose={() => setOpen(false)}>
          <p>The page's filters apply. Leave a time empty for no limit.</p>
          {(["from", "to"] as const).map((name) => (
            <Field key={name} label={name === "from" ? "From" : "To"}>
              {(control) => (
                <input
                  {...control}
                  type="datetime-local"
                  class="input"
                  value={range[name]}
                  onInput={(event) => setRange({ ...range, [name]: event.currentTarget.value })}
                />
              )}
            </Field>
          ))}
          <div class="row">
            <a
              class="button primary"
              href={`/v1/orgs/${organization.id}/audit-log/export?${parameters}`}
              download="audit-log.jsonl"
            >
              Download
            </a>
            <Button onClick={() => setOpen(false)}>Close</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
