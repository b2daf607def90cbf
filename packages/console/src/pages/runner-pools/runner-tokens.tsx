import { useState } from "preact/hooks";
import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Confirm, Dialog } from "../../components/dialog.tsx";
import { Form, SelectField, TextField } from "../../components/form.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { SecretDialog } from "../../components/secret.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import type { PoolPath } from "./pool-page.tsx";

type Token = Schemas["RunnerToken"];

/** How long the old token stays valid when it is rotated, in seconds. */
const OVERLAPS = [
  ["0", "Not at all: it is revoked at once"],
  ["600", "10 minutes"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
] as const;

type OpenDialog =
  | { kind: "create" }
  | { kind: "rotate" | "revoke"; token: Token }
  | { kind: "show"; secret: string };

export function RunnerTokens({ path }: { path: PoolPath }) {
  const list = useList("/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens", { path }, "on");
  const [dialog, setDialog] = useState<OpenDialog>();
  const close = () => setDialog(undefined);
  const show = async (created: Promise<{ token: string }>) => {
    const { token: secret } = await created;
    setDialog({ kind: "show", secret });
    await list.reload();
  };
  return (
    <Section
      title="Tokens"
      actions={
        can("createRunnerToken") && (
          <Button kind="primary" onClick={() => setDialog({ kind: "create" })}>
            Create a token
          </Button>
        )
      }
    >
      <RecordList
        list={list}
        label="Tokens"
        keyOf={({ id }) => id}
        render={(token) => <TokenRow token={token} open={setDialog} />}
        empty={<Empty title="There are no tokens. Create one to start a runner." />}
      />
      {dialog?.kind === "create" && <CreateToken path={path} show={show} onClose={close} />}
      {dialog?.kind === "rotate" && (
        <RotateToken path={path} token={dialog.token} show={show} onClose={close} />
      )}
      {dialog?.kind === "revoke" && (
        <Confirm
          title={`Revoke ${showHidden(dialog.token.name)}`}
          verb="Revoke"
          done="Token revoked."
          onClose={close}
          work={async () => {
            await client.delete("/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}", {
              path: { ...path, token_id: dialog.token.id },
            });
            await list.reload();
          }}
        >
          <p>A runner that uses it stops. Its deployment fails when its lease ends.</p>
        </Confirm>
      )}
      {dialog?.kind === "show" && (
        <SecretDialog
          title="The token of the runner"
          what="Runner token"
          secret={dialog.secret}
          command={startCommand()}
          onClose={close}
        />
      )}
    </Section>
  );
}

/** Reads the token without an echo, so that it is in no history of a shell. */
function startCommand(): string {
  return [
    '(umask 077; read -rs token; printf %s "$token" > runner.token)',
    `npx longshore runner --url ${location.origin} --token-file runner.token --exec ./deploy.sh`,
  ].join("\n");
}

function TokenRow({ token, open }: { token: Token; open: (dialog: OpenDialog) => void }) {
  const { name, last_four, last_used_at, expires_at } = token;
  return (
    <div class="list-item">
      <span>
        {showHidden(name)} <code>…{last_four}</code>
        <br />
        <span class="soft small">
          {last_used_at ? (
            <>
              Used <Time at={last_used_at} />
            </>
          ) : (
            "Never used"
          )}
          {expires_at && (
            <>
              , expires <Time at={expires_at} />
            </>
          )}
        </span>
      </span>
      <span class="row">
        {can("rotateRunnerToken") && (
          <Button
            kind="small"
            label={`Rotate ${name}`}
            onClick={() => open({ kind: "rotate", token })}
          >
            Rotate
          </Button>
        )}
        {can("revokeRunnerToken") && (
          <Button
            kind="small"
            label={`Revoke ${name}`}
            onClick={() => open({ kind: "revoke", token })}
          >
            Revoke
          </Button>
        )}
      </span>
    </div>
  );
}

interface CreateTokenProps {
  path: PoolPath;
  show: (created: Promise<{ token: string }>) => Promise<void>;
  onClose: () => void;
}

function CreateToken({ path, show, onClose }: CreateTokenProps) {
  return (
    <Dialog title="Create a token" onClose={onClose}>
      <Form
        verb="Create"
        done="Token created."
        onCancel={onClose}
        submit={(fields) => {
          const body = { name: fields.text("name") };
          return show(
            client.post("/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens", { path, body }),
          );
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
      </Form>
    </Dialog>
  );
}

function RotateToken({ path, token, show, onClose }: CreateTokenProps & { token: Token }) {
  return (
    <Dialog title={`Rotate ${showHidden(token.name)}`} onClose={onClose}>
      <Form
        verb="Rotate"
        done="Token rotated."
        onCancel={onClose}
        submit={(fields) =>
          show(
            client.post("/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens/{token_id}/rotate", {
              path: { ...path, token_id: token.id },
              body: { overlap_seconds: Number(fields.text("overlap_seconds")) },
            }),
          )
        }
      >
        {() => (
          <SelectField
            name="overlap_seconds"
            label="How long the old token stays valid"
            options={OVERLAPS}
            value="3600"
          />
        )}
      </Form>
    </Dialog>
  );
}
