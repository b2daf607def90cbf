import { useAction } from "../action.ts";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { ErrorNote } from "../components/error-note.tsx";
import { Check, Field } from "../components/form.tsx";
import { formatCount, formatNumber } from "../format.ts";
import type { LogLine } from "./log-lines.ts";

type Jump = (among: readonly LogLine[], direction: "next" | "previous") => void;

interface LogToolsProps {
  deploymentId: string;
  search: string;
  setSearch: (text: string) => void;
  found: readonly LogLine[];
  /** Of the current line among those that are found. 0: it is none of them. */
  position: number;
  errors: readonly LogLine[];
  jump: Jump;
  isFollowing: boolean;
  setFollowing: (isFollowing: boolean) => void;
  isWrapped: boolean;
  setWrapped: (isWrapped: boolean) => void;
}

export function LogTools(props: LogToolsProps) {
  const { deploymentId, errors, jump } = props;
  return (
    <div class="filters">
      <Search {...props} />
      <div class="row">
        <Check
          name="follow"
          label="Follow"
          checked={props.isFollowing}
          onChange={props.setFollowing}
        />
        <Check name="wrap" label="Wrap" checked={props.isWrapped} onChange={props.setWrapped} />
        {errors.length > 0 && (
          <>
            <Button kind="small" onClick={() => jump(errors, "previous")}>
              Previous error
            </Button>
            <Button kind="small" onClick={() => jump(errors, "next")}>
              Next error
            </Button>
          </>
        )}
        <Download deploymentId={deploymentId} />
      </div>
    </div>
  );
}

/** A link would not ask for text: `Accept` chooses the form of the log. */
function Download({ deploymentId }: { deploymentId: string }) {
  const action = useAction();
  const download = () =>
    action.run(async () => {
      const response = await client.request("GET", "/v1/deployments/{deployment_id}/logs", {
        path: { deployment_id: deploymentId },
        headers: { accept: "text/plain" },
      });
      const url = URL.createObjectURL(await response.blob());
      const link = document.createElement("a");
      link.href = url;
      link.download = `deployment-${deploymentId}.log`;
      link.click();
      URL.revokeObjectURL(url);
    });
  return (
    <>
      <Button kind="small" isBusy={action.isRunning} onClick={download}>
        Download
      </Button>
      <ErrorNote error={action.error} />
    </>
  );
}

function Search({ search, setSearch, found, position, jump }: LogToolsProps) {
  const count = `${position > 0 ? `${formatNumber(position)} of ` : ""}${formatCount(found.length, "line")}`;
  return (
    <div class="row">
      <Field label="Search the log">
        {(control) => (
          <input
            {...control}
            type="search"
            class="input"
            autocomplete="off"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter") jump(found, event.shiftKey ? "previous" : "next");
            }}
          />
        )}
      </Field>
      {search !== "" && (
        <>
          <span aria-live="polite" class="soft small">
            {count}
          </span>
          <Button kind="small" onClick={() => jump(found, "previous")}>
            Previous
          </Button>
          <Button kind="small" onClick={() => jump(found, "next")}>
            Next
          </Button>
        </>
      )}
    </div>
  );
}
