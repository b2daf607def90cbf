ALTER TABLE `project_connections` ADD `settings` text;--> statement-breakpoint
ALTER TABLE `deployments` ADD `keeps_source` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `deployments` ADD `trigger` text;--> statement-breakpoint
ALTER TABLE `stacks` ADD `outputs` text DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE `environments` ADD `source` text;--> statement-breakpoint
ALTER TABLE `projects` ADD `disconnected_at` integer;--> statement-breakpoint
ALTER TABLE `projects` ADD `disconnected_by` text;--> statement-breakpoint
UPDATE `environments` SET `source` = (
	SELECT deployments.source FROM `deployments`
	WHERE deployments.environment_id = environments.id AND deployments.status = 'succeeded'
	ORDER BY deployments.number DESC LIMIT 1);
--> statement-breakpoint
-- A project without a deployment and without such an entry was never connected, or is new.
UPDATE `projects` SET `disconnected_at` = `updated_at`
WHERE `connection_status` <> 'connected' AND (
	EXISTS (SELECT 1 FROM `deployments` WHERE deployments.project_id = projects.id)
	OR EXISTS (SELECT 1 FROM `changelog_entries` WHERE changelog_entries.project_id = projects.id AND changelog_entries.action = 'disconnected'));
--> statement-breakpoint
CREATE TRIGGER `projects_disconnecting` AFTER UPDATE OF `connection_status` ON `projects`
WHEN new.connection_status = 'disconnecting' AND old.connection_status <> 'disconnecting' BEGIN
	UPDATE `projects` SET `disconnected_at` = new.updated_at WHERE `id` = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `projects_connected` AFTER UPDATE OF `connection_status` ON `projects`
WHEN new.connection_status = 'connected' AND new.disconnected_at IS NOT NULL BEGIN
	UPDATE `projects` SET `disconnected_at` = NULL, `disconnected_by` = NULL WHERE `id` = new.id;
END;

--> statement-breakpoint
DROP TRIGGER `usage_stacks_insert`;
--> statement-breakpoint
DROP TRIGGER `usage_stacks_delete`;
--> statement-breakpoint
DROP TRIGGER `usage_stacks_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_insert` AFTER INSERT ON `stacks` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'stacks', 1, coalesce(octet_length(new.name), 0) + coalesce(octet_length(new.outputs), 0))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_delete` AFTER DELETE ON `stacks` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (coalesce(octet_length(old.name), 0) + coalesce(octet_length(old.outputs), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'stacks';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_update` AFTER UPDATE OF `name`, `outputs` ON `stacks`
WHEN (coalesce(octet_length(new.name), 0) + coalesce(octet_length(new.outputs), 0)) <> (coalesce(octet_length(old.name), 0) + coalesce(octet_length(old.outputs), 0)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (coalesce(octet_length(new.name), 0) + coalesce(octet_length(new.outputs), 0)) - (coalesce(octet_length(old.name), 0) + coalesce(octet_length(old.outputs), 0))
	WHERE `organization_id` = new.organization_id AND `kind` = 'stacks';
END;
--> statement-breakpoint
DROP TRIGGER `usage_environments_insert`;
--> statement-breakpoint
DROP TRIGGER `usage_environments_delete`;
--> statement-breakpoint
DROP TRIGGER `usage_environments_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_insert` AFTER INSERT ON `environments` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'environments', 1, coalesce(octet_length(new.name), 0) + coalesce(octet_length(new.configuration), 0) + coalesce(octet_length(new.source), 0))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_delete` AFTER DELETE ON `environments` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (coalesce(octet_length(old.name), 0) + coalesce(octet_length(old.configuration), 0) + coalesce(octet_length(old.source), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'environments';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_update` AFTER UPDATE OF `name`, `configuration`, `source` ON `environments`
WHEN (coalesce(octet_length(new.name), 0) + coalesce(octet_length(new.configuration), 0) + coalesce(octet_length(new.source), 0)) <> (coalesce(octet_length(old.name), 0) + coalesce(octet_length(old.configuration), 0) + coalesce(octet_length(old.source), 0)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (coalesce(octet_length(new.name), 0) + coalesce(octet_length(new.configuration), 0) + coalesce(octet_length(new.source), 0)) - (coalesce(octet_length(old.name), 0) + coalesce(octet_length(old.configuration), 0) + coalesce(octet_length(old.source), 0))
	WHERE `organization_id` = new.organization_id AND `kind` = 'environments';
END;
--> statement-breakpoint
UPDATE `usage` SET `bytes` = `bytes` + 2 * `records` WHERE `kind` = 'stacks';
--> statement-breakpoint
UPDATE `usage` SET `bytes` = `bytes` + coalesce((
	SELECT sum(octet_length(environments.source)) FROM `environments`
	WHERE environments.organization_id = usage.organization_id), 0)
WHERE `kind` = 'environments';
--> statement-breakpoint
DROP TRIGGER `usage_stacks_tombstone`;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_tombstone` AFTER UPDATE OF `organization_id` ON `stacks` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.name) + octet_length(old.outputs))
	WHERE `organization_id` = old.organization_id AND `kind` = 'stacks';
END;
--> statement-breakpoint
DROP TRIGGER `usage_environments_tombstone`;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_tombstone` AFTER UPDATE OF `organization_id` ON `environments` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.name) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'environments';
END;
