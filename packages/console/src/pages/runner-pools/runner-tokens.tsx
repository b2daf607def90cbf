import type { VNode } from "preact";
import { RUN_CLI } from "../../../../../src/lib/addresses.ts";
import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { SelectField, TextField } from "../../components/form.tsx";
import { ItemList } from "../../components/item-list.tsx";
import type { Secret } from "../../components/secret.tsx";
import { TimeAfter } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";

type Token = Schemas["RunnerToken"];

const TOKEN = "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}" as const;

/** How long the old token stays valid when it is rotated, in seconds. */
const OVERLAPS = [
  ["0", "Not at all: it is revoked at once"],
  ["600", "10 minutes"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
] as const;

export type PoolPath = { org_id: string; pool_id: string };

export function RunnerTokens({ path }: { path: PoolPath }) {
  const list = useList("/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens", { path }, "on");
  return (
    <ItemList
      title="Tokens"
      list={list}
      buttons={[
        can("createRunnerToken") && {
          verb: "Create a token",
          kind: "primary",
          dialog: (props) => <CreateToken path={path} {...props} />,
        },
      ]}
      row={(token, buttons) => <TokenRow token={token}>{buttons}</TokenRow>}
      itemButtons={(token) => [
        can("rotateRunnerToken") && {
          verb: "Rotate",
          label: `Rotate ${token.name}`,
          dialog: (props) => <RotateToken path={path} token={token} {...props} />,
        },
        can("revokeRunnerToken") && {
          verb: "Revoke",
          label: `Revoke ${token.name}`,
          confirm: {
            done: "Token revoked.",
            text: "A runner that uses it stops. Its deployment fails when its lease ends.",
            work: () => client.delete(TOKEN, { path: { ...path, token_id: token.id } }),
          },
        },
      ]}
      empty="There are no tokens. Create one to start a runner."
    />
  );
}

function secretOf({ token }: { token: string }): Secret {
  return {
    title: "The token of the runner",
    what: "Runner token",
    secret: token,
    command: startCommand(),
  };
}

/** Starts a runner with the token that `runner.token` has. */
export function runnerCommand(): string {
  return `${RUN_CLI} runner --url ${location.origin} --token-file runner.token --exec ./deploy.sh`;
}

/** Reads the token without an echo, so that it is in no history of a shell. */
function startCommand(): string {
  return ['(umask 077; read -rs token; printf %s "$token" > runner.token)', runnerCommand()].join(
    "\n",
  );
}

function TokenRow({ token, children }: { token: Token; children: VNode }) {
  const { name, last_four, last_used_at, expires_at } = token;
  return (
    <div class="list-item">
      <span>
        <bdi>{showHidden(name)}</bdi> <code>…{last_four}</code>
        <br />
        <span class="soft small">
          {last_used_at ? "" : "Never used"}
          <TimeAfter words="Used" at={last_used_at} />
          <TimeAfter words=", expires" at={expires_at} />
        </span>
      </span>
      <span class="row">{children}</span>
    </div>
  );
}

interface TokenDialogProps extends OpenDialogProps {
  path: PoolPath;
}

function CreateToken({ path, showSecret, ...dialog }: TokenDialogProps) {
  return (
    <FormDialog
      {...dialog}
      title="Create a token"
      verb="Create"
      done="Token created."
      submit={async (fields) => {
        const body = { name: fields.text("name") };
        const pattern = "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens";
        showSecret(secretOf(await client.post(pattern, { path, body })));
      }}
    >
      {(error) => (
        <TextField
          name="name"
          label="Name"
          hint="Such as the host that the runner is on"
          required
          error={error}
        />
      )}
    </FormDialog>
  );
}

function RotateToken({ path, token, showSecret, ...dialog }: TokenDialogProps & { token: Token }) {
  return (
    <FormDialog
      {...dialog}
      title={`Rotate ${showHidden(token.name)}`}
      verb="Rotate"
      done="Token rotated."
      submit={async (fields) => {
        const rotated = await client.post(`${TOKEN}/rotate`, {
          path: { ...path, token_id: token.id },
          body: { overlap_seconds: Number(fields.text("overlap_seconds")) },
        });
        showSecret(secretOf(rotated));
      }}
    >
      {() => (
        <SelectField
          name="overlap_seconds"
          label="How long the old token stays valid"
          options={OVERLAPS}
          value="3600"
        />
      )}
    </FormDialog>
  );
}
