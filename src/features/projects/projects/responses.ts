import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { CONNECTION_STATUSES } from "../../tenancy/model.ts";
import { Description, Icon, Name, REPO } from "./schemas.ts";

const ConnectionStatus = component("ConnectionStatus", () =>
  z.enum(CONNECTION_STATUSES).openapi({
    description:
      "Whether a project is connected to a cloud provider. Only a `connected` project can be " +
      "deployed; `disconnecting` lasts until its unfinished deployments have ended.",
  }),
);

export const Project = component("Project", () =>
  z
    .object({
      id: identifierOf("project", "The project's own ID."),
      org_id: identifierOf("organization", "The organization that owns the project."),
      name: Name(),
      description: Description().optional(),
      icon: Icon().optional(),
      repo_id: identifierOf("repository", `${REPO} Absent: none.`).optional(),
      default_environment_id: identifierOf(
        "environment",
        "The environment that clients show first. It cannot be deleted.",
      ),
      connection_status: ConnectionStatus(),
      created_at: timestampOf("When the project was created."),
      updated_at: timestampOf("When a field of the project last changed."),
    })
    .openapi({ description: "What a team ships. It contains environments." }),
);

export const ProjectList = envelopeOf(Project, "ProjectList");
