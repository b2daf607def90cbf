import { Conflict } from "../../../lib/errors.ts";

export const FIRST_CONFIGURATION = "{}";

export interface NewProject {
  name: string;
  description: string | null;
  icon: string | null;
  repoId: string | null;
}

/** The fields that are absent stay as they are. */
export interface ProjectChange {
  name?: string | undefined;
  description?: string | null | undefined;
  icon?: string | null | undefined;
  repoId?: string | null | undefined;
  defaultEnvironmentId?: string | undefined;
}

export const NAME_TAKEN = new Conflict(
  "The organization already has a project with this name. Choose another name.",
);

export const PROJECT_IN_USE = new Conflict(
  "The project has an unfinished deployment. Cancel it first.",
);
