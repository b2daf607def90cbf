import type { VNode } from "preact";
import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { ItemList } from "../../components/item-list.tsx";
import { formatDuration, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import type { OrganizationTabProps } from "../tabs.ts";
import { CreateTrust } from "./create-trust.tsx";

export function TrustsTab({ path }: OrganizationTabProps) {
  const list = useList("/v1/orgs/{org_id}/trusts", { path });
  return (
    <ItemList
      title="Trusts"
      list={list}
      buttons={[
        can("createTrust") && {
          verb: "Create a trust",
          kind: "primary",
          dialog: (props) => <CreateTrust path={path} {...props} />,
        },
      ]}
      row={(trust, buttons) => <TrustRow trust={trust}>{buttons}</TrustRow>}
      itemButtons={({ id, name }) => [
        can("deleteTrust") && {
          verb: "Delete",
          label: `Delete ${name}`,
          confirm: {
            typed: name,
            done: "Trust deleted.",
            text: "The keys that were exchanged with it stop working.",
            work: () =>
              client.delete("/v1/orgs/{org_id}/trusts/{trust_id}", {
                path: { ...path, trust_id: id },
              }),
          },
        },
      ]}
      empty="There are no trusts."
    >
      <p class="soft">
        With a trust, a CI job exchanges its own token for an API key. No secret is stored.
      </p>
    </ItemList>
  );
}

function TrustRow({ trust, children }: { trust: Schemas["Trust"]; children: VNode }) {
  const { name, issuer, conditions, pool_id, ttl_seconds } = trust;
  return (
    <div class="list-item">
      <span>
        <bdi>{showHidden(name)}</bdi>
        <br />
        <span class="soft small">{showHidden(issuer)}</span>
        <br />
        <code>{showHidden(JSON.stringify(conditions))}</code>
      </span>
      <span class="row">
        <span class="soft small">
          {pool_id ? "runner tokens" : "API keys"} for {formatDuration(ttl_seconds * 1000)}
        </span>
        {children}
      </span>
    </div>
  );
}
