DROP INDEX `stacks_resources_changed`;--> statement-breakpoint
CREATE INDEX `stacks_changed` ON `stacks` (`organization_id`,`resources_changed_at`) WHERE resources_changed_at is not null;
--> statement-breakpoint
-- What is in a deleted project or environment may keep its own organization until the purge.
DROP TRIGGER `components_of_tombstone`;
--> statement-breakpoint
CREATE TRIGGER `components_of_tombstone` BEFORE INSERT ON `components`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
DROP TRIGGER `stacks_of_tombstone`;
--> statement-breakpoint
CREATE TRIGGER `stacks_of_tombstone` BEFORE INSERT ON `stacks`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
DROP TRIGGER `variables_of_tombstone`;
--> statement-breakpoint
CREATE TRIGGER `variables_of_tombstone` BEFORE INSERT ON `variables`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
DROP TRIGGER `alarms_of_tombstone`;
--> statement-breakpoint
CREATE TRIGGER `alarms_of_tombstone` BEFORE INSERT ON `alarms`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `stacks` WHERE `id` = new.stack_id) = '1111111111111111111111'
	OR (SELECT `environments`.`organization_id` FROM `stacks` JOIN `environments` ON `environments`.`id` = `stacks`.`environment_id` WHERE `stacks`.`id` = new.stack_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
DROP TRIGGER `runner_pool_environments_of_tombstone`;
--> statement-breakpoint
CREATE TRIGGER `runner_pool_environments_of_tombstone` BEFORE INSERT ON `runner_pool_environments`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111'
	OR (SELECT `projects`.`organization_id` FROM `environments` JOIN `projects` ON `projects`.`id` = `environments`.`project_id` WHERE `environments`.`id` = new.environment_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
-- The Worker of the previous release looks at the environment alone.
CREATE TRIGGER `deployments_of_tombstone` BEFORE INSERT ON `deployments`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(IGNORE);
END;