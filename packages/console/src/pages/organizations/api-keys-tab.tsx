import type { VNode } from "preact";
import { RUN_CLI } from "../../../../../src/lib/addresses.ts";
import { describeOwner } from "../../../../cli/src/key-owner.ts";
import { can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { ChoiceFilter } from "../../components/filter.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { Status } from "../../components/status.tsx";
import { Time, TimeAfter } from "../../components/time.tsx";
import { formatCount, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { queryOf } from "../../router.ts";
import { currentWho } from "../../session.ts";
import type { OrganizationTabProps } from "../tabs.ts";
import { EditKey, RevokeKey } from "./api-key-dialogs.tsx";
import { CreateKey } from "./create-api-key.tsx";

type ApiKey = Schemas["ApiKey"];

const STATUSES = [
  ["", "Active"],
  ["revoked", "Revoked"],
] as const;

export function ApiKeysTab({ path }: OrganizationTabProps) {
  const status = queryOf("status") || "active";
  const list = useList("/v1/orgs/{org_id}/api-keys", { path, query: { status } });
  const mayCreate = can("createApiKey");
  return (
    <ItemList
      title="API keys"
      list={list}
      buttons={[
        mayCreate && {
          verb: "Create a key",
          kind: "primary",
          inPalette: "Create an API key",
          dialog: (props) => <CreateKey path={path} {...props} />,
        },
      ]}
      nameOf={({ name }) => name}
      filters={<ChoiceFilter name="status" label="Status" options={STATUSES} />}
      row={(apiKey, buttons) => <KeyRow apiKey={apiKey}>{buttons}</KeyRow>}
      itemButtons={(apiKey) => [
        !apiKey.revoked_at &&
          can("updateApiKey") && {
            verb: "Edit",
            label: `Edit ${apiKey.name}`,
            dialog: (props) => <EditKey apiKey={apiKey} {...props} />,
          },
        can("revokeApiKey") && {
          ...(apiKey.revoked_at
            ? { verb: "Revoke what it made", label: `Revoke what it made: ${apiKey.name}` }
            : { verb: "Revoke", label: `Revoke ${apiKey.name}` }),
          dialog: (props) => <RevokeKey apiKey={apiKey} {...props} />,
        },
      ]}
      empty="No loaded key fits."
      command={mayCreate && `${RUN_CLI} keys create deploy`}
    />
  );
}

interface KeyRowProps {
  apiKey: ApiKey;
  /** Its buttons. */
  children: VNode;
}

function KeyRow({ apiKey, children }: KeyRowProps) {
  const { id, name, owner, role, last_four, revoked_at } = apiKey;
  const { credential } = currentWho();
  const isCurrent = id === credential.id || id === credential.key_id;
  return (
    <div class="list-item">
      <span>
        <bdi>{showHidden(name)}</bdi> <code>…{last_four}</code>{" "}
        <span class="soft small">
          {owner && (
            <>
              <bdi>{showHidden(describeOwner(owner))}</bdi> ·{" "}
            </>
          )}
          {role}
          {isCurrent && ", of this session"}
        </span>
        <br />
        <span class="soft small">{describeLimits(apiKey)}</span>
        <br />
        <KeyTimes apiKey={apiKey} />
      </span>
      <span class="row">
        {revoked_at && <Status of="revoked" />}
        {children}
      </span>
    </div>
  );
}

function describeLimits({ scopes, project_ids, environment_ids }: ApiKey): string {
  return [
    scopes ? scopes.join(", ") : "Every scope",
    project_ids && formatCount(project_ids.length, "project"),
    environment_ids && formatCount(environment_ids.length, "environment"),
  ]
    .filter(Boolean)
    .join("; ");
}

function KeyTimes({ apiKey }: { apiKey: ApiKey }) {
  const { created_at, last_used_at, expires_at } = apiKey;
  return (
    <span class="soft small">
      Created <Time at={created_at} />, {last_used_at ? "" : "never used"}
      <TimeAfter words="used" at={last_used_at} />
      <TimeAfter words=", expires" at={expires_at} />
    </span>
  );
}
