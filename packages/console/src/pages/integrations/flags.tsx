import type { Schemas } from "../../api.ts";
import { Check, type FormFields } from "../../components/form.tsx";

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
