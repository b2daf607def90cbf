import {
  EVENTS,
  type EventDefinition,
  NOTIFICATION_KINDS,
} from "../../../../../src/features/housekeeping/outbox/events.ts";
import type { Schemas } from "../../api.ts";
import { Choices, type FormFields } from "../../components/form.tsx";

type Configuration = Schemas["IntegrationConfiguration"];

const DEFINED: readonly EventDefinition[] = Object.values(EVENTS);

/** One for each kind, with the title of its first event. */
const FLAGS = NOTIFICATION_KINDS.map((kind) => {
  const first = DEFINED.find((event) => event.kind === kind);
  return { kind, title: first?.flagTitle ?? first?.title ?? kind };
});

export function describeFlags(configuration: Configuration): string {
  const active = FLAGS.filter(({ kind }) => configuration[kind]).map(({ title }) => title);
  return active.join(", ") || "Nothing";
}

export function FlagFields({ configuration }: { configuration?: Configuration }) {
  return (
    <Choices
      name="flag"
      legend="Notify of"
      options={FLAGS.map(({ kind, title }) => [kind, title])}
      chosen={FLAGS.map(({ kind }) => kind).filter((kind) =>
        configuration ? configuration[kind] : kind.startsWith("deployments_"),
      )}
    />
  );
}

/** Every flag, so that one that is not checked becomes false. */
export function readFlags(fields: FormFields): Configuration {
  const checked = fields.all("flag");
  const entries = FLAGS.map(({ kind }) => [kind, checked.includes(kind)]);
  return Object.fromEntries(entries) as Configuration;
}
