-- A row cannot be inserted below a deleted owner that the purge has not removed yet: the row fails as with a missing foreign key.

CREATE TRIGGER `alarms_of_tombstone` BEFORE INSERT ON `alarms`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `stacks` WHERE `id` = new.stack_id) = '1111111111111111111111'
	OR (SELECT `environments`.`organization_id` FROM `stacks` JOIN `environments` ON `environments`.`id` = `stacks`.`environment_id` WHERE `stacks`.`id` = new.stack_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;

CREATE TRIGGER `components_of_tombstone` BEFORE INSERT ON `components`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;

CREATE TRIGGER `deployments_of_tombstone` BEFORE INSERT ON `deployments`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(IGNORE);
END;

CREATE TRIGGER `environments_of_tombstone` BEFORE INSERT ON `environments`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;

CREATE TRIGGER `integrations_of_tombstone` BEFORE INSERT ON `integrations`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;

CREATE TRIGGER `project_connections_of_tombstone` BEFORE INSERT ON `project_connections`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;

CREATE TRIGGER `project_members_of_tombstone` BEFORE INSERT ON `project_members`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;

CREATE TRIGGER `recoveries_of_tombstone` BEFORE INSERT ON `recoveries`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `integrations` WHERE `id` = new.integration_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;

CREATE TRIGGER `runner_pool_environments_of_tombstone` BEFORE INSERT ON `runner_pool_environments`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111'
	OR (SELECT `projects`.`organization_id` FROM `environments` JOIN `projects` ON `projects`.`id` = `environments`.`project_id` WHERE `environments`.`id` = new.environment_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;

CREATE TRIGGER `stacks_of_deleted_component` BEFORE UPDATE OF `component_id` ON `stacks`
WHEN (SELECT `organization_id` FROM `components` WHERE `id` = new.component_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;

CREATE TRIGGER `stacks_of_tombstone` BEFORE INSERT ON `stacks`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `components` WHERE `id` = new.component_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;

CREATE TRIGGER `variables_of_tombstone` BEFORE INSERT ON `variables`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `components` WHERE `id` = new.component_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
