import type { Schemas } from "../../api.ts";
import { Check, type FormFields } from "../../components/form.tsx";
import { showHidden } from "../../format.ts";

type Configuration = Schemas["IntegrationConfiguration"];

export const FLAGS: readonly (readonly [keyof Configuration, string])[] = [
  ["deployments_in_progress", "Deployments that start"],
  ["deployments_succeeded", "Deployments that succeed"],
  ["deployments_failed", "Deployments that fail"],
  ["promotions", "Promotions"],
  ["services_in_alarm", "Alarms"],
  ["services_ok", "Alarms that end"],
  ["changelog", "Changes of the project"],
];

export function describeFlags(configuration: Configuration): string {
  const active = FLAGS.filter(([flag]) => configuration[flag]).map(([, label]) => label);
  return active.join(", ") || "Nothing";
}

export function FlagFields({ configuration }: { configuration?: Configuration }) {
  return (
    <fieldset class="stack">
      <legend>Notify of</legend>
      <div class="checks">
        {FLAGS.map(([flag, label]) => (
          <Check
            key={flag}
            name="flag"
            value={flag}
            label={label}
            checked={configuration ? configuration[flag] : flag.startsWith("deployments_")}
          />
        ))}
      </div>
    </fieldset>
  );
}

/** Every flag, so that one that is not checked becomes false. */
export function readFlags(fields: FormFields): Configuration {
  const checked = fields.all("flag");
  const entries = FLAGS.map(([flag]) => [flag, checked.includes(flag)]);
  return Object.fromEntries(entries) as Configuration;
}

interface FilterFieldsProps {
  environments: readonly Schemas["Environment"][];
  chosen?: readonly string[] | undefined;
}

export function EnvironmentFields({ environments, chosen = [] }: FilterFieldsProps) {
  return (
    <fieldset class="stack">
      <legend>Only of these environments (none: all)</legend>
      <div class="checks">
        {environments.map(({ id, name }) => (
          <Check
            key={id}
            name="environment"
            value={id}
            label={showHidden(name)}
            checked={chosen.includes(id)}
          />
        ))}
      </div>
    </fieldset>
  );
}

/** Null: all environments. */
export function readEnvironments(fields: FormFields): string[] | null {
  const chosen = fields.all("environment");
  return chosen.length > 0 ? chosen : null;
}
