import type { Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Check, Field } from "../../components/form.tsx";
import { humanize } from "../../format.ts";
import { Input, ManyOf, type Option, RuleCard, Select, Span } from "./rule-controls.tsx";
import {
  ISSUERS,
  type Members,
  NEW_SOURCE,
  NEW_WINDOW,
  type RulesForm,
  type Source,
  turn,
  verifiedBy,
  verifierOf,
  WEEK,
} from "./rules-form.ts";

/** What the rules name, with the names. */
export interface Named {
  people: readonly Option[];
  members: readonly Option[];
  /** Other environments of the project, in their order. */
  environments: readonly Option[];
  trusts: readonly Option[];
}

export interface CardsProps {
  form: RulesForm;
  setForm: (form: RulesForm) => void;
  named: Named;
}

/** A card for each rule. */
export function RuleCards(props: CardsProps) {
  return (
    <>
      <ApprovalsCard {...props} />
      <FromCard {...props} />
      <WindowsCard {...props} />
      <SourcesCard {...props} />
      <GroupCard {...props} />
      <ExemptCard {...props} />
      <AccessCard {...props} />
    </>
  );
}

/** The state of one rule, its card's switch, and how to change a part of its value. */
function useRule<Name extends Exclude<keyof RulesForm, "others">>(
  { form, setForm }: CardsProps,
  name: Name,
) {
  const { isOn, value } = form[name];
  return {
    value: value as RulesForm[Name]["value"],
    set: (changed: RulesForm[Name]["value"]) =>
      setForm({ ...form, [name]: { isOn, value: changed } }),
    card: { isOn, onSwitch: (on: boolean) => setForm(turn(form, name, on)) },
  };
}

const COUNTS = ["1", "2", "3", "4", "5", "6"].map((each) => [each, each] as const);

function ApprovalsCard(props: CardsProps) {
  const { value, set, card } = useRule(props, "approvals");
  return (
    <RuleCard title="Approvals" hint="People look at a deployment before it starts." {...card}>
      <Select
        label="How many"
        options={COUNTS}
        value={String(value.required)}
        onChange={(count) => set({ ...value, required: Number(count) })}
      />
      <MembersField
        label="Who approves"
        path="approvals.approvers"
        members={value.approvers}
        options={props.named.people}
        onChange={(approvers) => set({ ...value, approvers })}
      />
      <Check
        name="prevent_self_approval"
        label="Nobody approves their own deployment"
        checked={value.prevent_self_approval}
        onChange={(prevents) => set({ ...value, prevent_self_approval: prevents })}
      />
      <Span
        label="Expires after"
        path="approvals.expires_after_seconds"
        seconds={value.expires_after_seconds}
        onChange={(seconds) => set({ ...value, expires_after_seconds: seconds })}
      />
    </RuleCard>
  );
}

const WHO = [
  ["owner", "Project owners and organization admins"],
  ["contributor", "Project contributors and organization admins"],
  ["listed", "Only the people below"],
] as const satisfies readonly Option[];

interface MembersFieldProps {
  label: string;
  path: string;
  members: Members;
  options: readonly Option[];
  onChange: (members: Members) => void;
}

function MembersField({ label, path, members, options, onChange }: MembersFieldProps) {
  const { role, membership_ids: listed = [] } = members;
  return (
    <>
      <Select
        label={label}
        options={WHO}
        value={role ?? "listed"}
        onChange={(chosen) =>
          onChange(
            chosen === "listed"
              ? { membership_ids: listed }
              : { role: chosen as Schemas["ProtectionRole"] },
          )
        }
      />
      {role === undefined && (
        <ManyOf
          legend={`${label}: people`}
          path={`${path}.membership_ids`}
          options={options}
          chosen={listed}
          // The service lists members in the order of their IDs.
          onChange={(ids) => onChange({ membership_ids: ids.toSorted() })}
        />
      )}
    </>
  );
}

function FromCard(props: CardsProps) {
  const { value, set, card } = useRule(props, "from");
  const { same_configuration: same } = value;
  return (
    <RuleCard
      title="Must have run in"
      hint="The same source has to succeed in another environment first."
      {...card}
    >
      {props.named.environments.length === 0 && (
        <p>The project has no other environment. Create one first.</p>
      )}
      <ManyOf
        legend="Environments (one is enough)"
        path="from.environment_ids"
        options={props.named.environments}
        chosen={value.environment_ids}
        onChange={(ids) => set({ ...value, environment_ids: ids })}
      />
      <Span
        label="For at least"
        path="from.minimum_seconds"
        seconds={value.minimum_seconds}
        onChange={(seconds) => set({ ...value, minimum_seconds: seconds })}
      />
      <Check
        name="same_configuration"
        label="With the same configuration"
        checked={same !== undefined}
        onChange={(isSame) => {
          const { same_configuration: _, ...rest } = value;
          set(isSame ? { ...rest, same_configuration: { except: [] } } : rest);
        }}
      />
      {same && (
        <Field
          label="Except for (optional)"
          hint="JSON Pointers to what may differ, one per line, such as /replicas"
        >
          {(control) => (
            <textarea
              {...control}
              class="input"
              rows={2}
              spellcheck={false}
              value={same.except.join("\n")}
              onInput={({ currentTarget }) =>
                set({
                  ...value,
                  same_configuration: { ...same, except: currentTarget.value.split("\n") },
                })
              }
            />
          )}
        </Field>
      )}
    </RuleCard>
  );
}

const DAYS = WEEK.map((day) => [day, humanize(day).slice(0, 3)] as const);
const TIME_ZONES = "time-zones";

function WindowsCard(props: CardsProps) {
  const { value, set, card } = useRule(props, "windows");
  const { weekly } = value;
  const replace = (at: number, changed: (typeof weekly)[number]) =>
    set({ ...value, weekly: weekly.with(at, changed) });
  return (
    <RuleCard title="Times" hint="Deployments start only at these times of the week." {...card}>
      {weekly.map((window, at) => (
        <fieldset key={at} class="window">
          <legend class="visually-hidden">Time {at + 1}</legend>
          <ManyOf
            legend="Days"
            path={`windows.weekly.${at}.days`}
            options={DAYS}
            chosen={window.days}
            onChange={(days) => replace(at, { ...window, days })}
            isCompact
          />
          {(["from", "to"] as const).map((end) => (
            <Input
              key={end}
              label={humanize(end)}
              path={`windows.weekly.${at}.${end}`}
              value={window[end]}
              onInput={(time) => replace(at, { ...window, [end]: time })}
              attributes={{ type: "time" }}
            />
          ))}
          {weekly.length > 1 && (
            <Button
              label={`Remove time ${at + 1}`}
              onClick={() => set({ ...value, weekly: weekly.toSpliced(at, 1) })}
            >
              Remove
            </Button>
          )}
        </fieldset>
      ))}
      <div>
        <Button kind="small" onClick={() => set({ ...value, weekly: [...weekly, NEW_WINDOW] })}>
          Add a time
        </Button>
      </div>
      <Input
        label="Time zone"
        path="windows.time_zone"
        value={value.time_zone}
        onInput={(zone) => set({ ...value, time_zone: zone })}
        attributes={{ list: TIME_ZONES }}
      />
      <datalist id={TIME_ZONES}>
        {Intl.supportedValuesOf("timeZone").map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </RuleCard>
  );
}

function SourcesCard(props: CardsProps) {
  const { value: sources, set, card } = useRule(props, "sources");
  return (
    <RuleCard
      title="Only from CI"
      hint="Only CI jobs of these repositories and refs may deploy."
      {...card}
    >
      {sources.map((source, at) => (
        <SourceFields
          key={at}
          source={source}
          at={at}
          trusts={props.named.trusts}
          onChange={(changed) => set(sources.with(at, changed))}
          {...(sources.length > 1 && { onRemove: () => set(sources.toSpliced(at, 1)) })}
        />
      ))}
      <div>
        <Button kind="small" onClick={() => set([...sources, NEW_SOURCE])}>
          Add a repository
        </Button>
      </div>
    </RuleCard>
  );
}

interface SourceFieldsProps {
  source: Source;
  at: number;
  trusts: readonly Option[];
  onChange: (source: Source) => void;
  onRemove?: () => void;
}

function SourceFields({ source, at, trusts, onChange, onRemove }: SourceFieldsProps) {
  const verifier = verifierOf(source);
  const known = [...Object.entries(ISSUERS), ...trusts];
  // Several trusts are chosen in JSON. A rule from an earlier release may have none.
  const isKnown = known.some(([value]) => value === verifier);
  const names = verifier.split(",").map((id) => trusts.find((each) => each[0] === id)?.[1] ?? id);
  const kept = [verifier, verifier === "" ? "Nobody" : names.join(", ")] as const;
  return (
    <fieldset class="stack">
      <legend class="visually-hidden">Repository {at + 1}</legend>
      <Select
        label="Verified by"
        options={isKnown ? known : [...known, kept]}
        value={verifier}
        onChange={(chosen) => onChange(verifiedBy(source, chosen))}
      />
      <Input
        label="Repository ID"
        hint="The claim repository_id of the job's token; at GitLab, project_id"
        path={`sources.${at}.repository_id`}
        value={source.repository_id}
        onInput={(id) => onChange({ ...source, repository_id: id })}
        attributes={{ inputMode: "numeric", pattern: "\\d+" }}
      />
      <Input
        label="Ref"
        hint="Such as refs/heads/main or refs/tags/v*"
        path={`sources.${at}.ref`}
        value={source.ref}
        onInput={(ref) => onChange({ ...source, ref })}
      />
      <Check
        name={`protected-${at}`}
        label="Only if the code host protects the ref"
        checked={source.protected_ref ?? false}
        onChange={(isProtected) => onChange({ ...source, protected_ref: isProtected })}
      />
      {onRemove && (
        <div>
          <Button kind="small" label={`Remove repository ${at + 1}`} onClick={onRemove}>
            Remove
          </Button>
        </div>
      )}
    </fieldset>
  );
}

function GroupCard(props: CardsProps) {
  const { value, set, card } = useRule(props, "group");
  return (
    <RuleCard
      title="One at a time"
      hint="Environments with the same group deploy one after another."
      {...card}
    >
      <Input label="Group" hint="Such as production" path="group" value={value} onInput={set} />
    </RuleCard>
  );
}

const EXEMPT = [
  ["rollback", "Rollbacks"],
  ["restart", "Restarts"],
] as const satisfies readonly (readonly [Schemas["Exemption"], string])[];

function ExemptCard(props: CardsProps) {
  const { value, set, card } = useRule(props, "exempt");
  return (
    <RuleCard
      title="Exempt"
      hint="What skips these rules and freezes, but still waits its turn."
      {...card}
    >
      <ManyOf
        legend="Skip the rules"
        path="exempt"
        options={EXEMPT}
        chosen={value}
        onChange={set}
      />
    </RuleCard>
  );
}

function AccessCard(props: CardsProps) {
  const { value, set, card } = useRule(props, "access");
  return (
    <RuleCard
      title="Access"
      hint="Off: contributors deploy and configure; with approvals, owners configure."
      {...card}
    >
      <MembersField
        label="Who deploys"
        path="access.deploy"
        members={value.deploy}
        options={props.named.members}
        onChange={(deploy) => set({ ...value, deploy })}
      />
      <MembersField
        label="Who configures"
        path="access.configure"
        members={value.configure}
        options={props.named.members}
        onChange={(configure) => set({ ...value, configure })}
      />
    </RuleCard>
  );
}
