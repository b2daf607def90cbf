import { EVENTS } from "../../../../../src/features/notifications/events.ts";
import type { Schemas } from "../../api.ts";
import { Check, type FormFields } from "../../components/form.tsx";

type Configuration = Schemas["IntegrationConfiguration"];

const FLAGS = Object.values(EVENTS).filter((event) => event.kind !== undefined);

export function describeFlags(configuration: Configuration): string {
  const active = FLAGS.filter(({ kind }) => configuration[kind]).map(({ title }) => title);
  return active.join(", ") || "Nothing";
}

export function FlagFields({ configuration }: { configuration?: Configuration }) {
  return (
    <fieldset class="stack">
      <legend>Notify of</legend>
      <div class="checks">
        {FLAGS.map(({ kind, title }) => (
          <Check
            key={kind}
            name="flag"
            value={kind}
            label={title}
            checked={configuration ? configuration[kind] : kind.startsWith("deployments_")}
          />
        ))}
      </div>
    </fieldset>
  );
}

/** Every flag, so that one that is not checked becomes false. */
export function readFlags(fields: FormFields): Configuration {
  const checked = fields.all("flag");
  const entries = FLAGS.map(({ kind }) => [kind, checked.includes(kind)]);
  return Object.fromEntries(entries) as Configuration;
}
