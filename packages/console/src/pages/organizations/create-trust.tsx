import { useState } from "preact/hooks";
import { inOrder } from "../../../../cli/src/in-order.ts";
import { client, type Schemas } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import {
  Choices,
  type FormFields,
  SelectField,
  TextAreaField,
  TextField,
} from "../../components/form.tsx";
import { showHidden } from "../../format.ts";
import { useList, useQuery } from "../../query.ts";
import type { OrganizationTabProps } from "../tabs.ts";
import { readScopes, ScopeFields } from "./scope-fields.tsx";

const GITHUB = "https://token.actions.githubusercontent.com";

/** In seconds. */
const LIFETIMES = [
  ["300", "5 minutes"],
  ["900", "15 minutes"],
  ["1800", "30 minutes"],
  ["3600", "1 hour"],
] as const;

interface CreateTrustProps extends OrganizationTabProps, OpenDialogProps {}

export function CreateTrust({ path, ...dialog }: CreateTrustProps) {
  const subjects = useSubjects(path);
  const [chosen, setChosen] = useState<string>();
  const subject = chosen ?? subjects[0]?.[0];
  return (
    <FormDialog
      {...dialog}
      title="Create a trust"
      verb="Create"
      done="Trust created."
      submit={async (fields) =>
        client.post("/v1/orgs/{org_id}/trusts", { path, body: readTrust(fields) })
      }
    >
      {(error) => (
        <>
          <TextField name="name" label="Name" required error={error} />
          <TextField name="issuer" label="Issuer" value={GITHUB} required error={error} />
          <TextField
            name="audience"
            label="Audience"
            value={location.origin}
            required
            error={error}
          />
          <TextAreaField
            name="conditions"
            label="Conditions"
            hint="Claims, one per line. * stands for any text without /"
            placeholder={"repository = acme/shop\nref = refs/heads/main"}
          />
          <SelectField
            name="subject"
            label="Gives keys of the service account, or tokens of the pool"
            options={subjects}
            value={subject}
            onChange={setChosen}
          />
          <SelectField name="ttl" label="Each is valid for" options={LIFETIMES} value="900" />
          {subject?.startsWith("member ") && <KeyFields />}
        </>
      )}
    </FormDialog>
  );
}

/** What narrows the keys of a service account. A pool has its environments already. */
function KeyFields() {
  const projects = useList("/v1/projects", { query: { limit: 100 } });
  const [projectId, setProject] = useState("");
  const overview = useQuery(projectId ? "/v1/projects/{project_id}/overview" : undefined, {
    path: { project_id: projectId },
    query: { limit: 100 },
  });
  const environments = inOrder(overview.data?.data ?? []);
  return (
    <>
      <ScopeFields />
      <SelectField
        name="project"
        label="Only this project"
        options={[
          ["", "All projects"],
          ...(projects.items ?? []).map(({ id, name }) => [id, showHidden(name)] as const),
        ]}
        value={projectId}
        onChange={setProject}
      />
      <Choices
        name="environment"
        legend="Only these environments (none: all)"
        options={environments.map(({ id, name }) => [id, showHidden(name)])}
      />
    </>
  );
}

/** Whose credentials a trust may give, as choices that `readTrust` reads. */
function useSubjects(path: OrganizationTabProps["path"]) {
  const accounts = useList("/v1/orgs/{org_id}/service-accounts", { path });
  const pools = useList("/v1/orgs/{org_id}/runner-pools", { path });
  return [
    ...(accounts.items ?? []).map(
      ({ membership_id, name }) => [`member ${membership_id}`, showHidden(name)] as const,
    ),
    ...(pools.items ?? []).map(
      ({ id, name }) => [`pool ${id}`, `Pool ${showHidden(name)}`] as const,
    ),
  ];
}

function readTrust(fields: FormFields): Schemas["CreateTrust"] {
  const [kind, id = ""] = fields.text("subject").split(" ");
  return {
    name: fields.text("name"),
    issuer: fields.text("issuer"),
    audience: fields.text("audience"),
    conditions: readConditions(fields.text("conditions")),
    ttl_seconds: Number(fields.text("ttl")),
    ...(kind === "pool" ? { pool_id: id } : { membership_id: id, ...readBoundaries(fields) }),
  };
}

function readBoundaries(fields: FormFields) {
  const scopes = readScopes(fields);
  const projectId = fields.optional("project");
  const environmentIds = fields.all("environment");
  return {
    ...(scopes && { scopes }),
    ...(projectId && { project_ids: [projectId] }),
    ...(environmentIds.length > 0 && { environment_ids: environmentIds }),
  };
}

/** @throws Error if a line is not `claim = value`. */
function readConditions(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const entries = lines.map((line) => {
    const at = line.indexOf("=");
    if (at < 1) throw new Error(`"${line}" is not a condition. Write claim = value.`);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
  });
  return Object.fromEntries(entries);
}
