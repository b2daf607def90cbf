ALTER TABLE `alarms` ADD `environment_id` text;--> statement-breakpoint
UPDATE `alarms` SET `environment_id` = (SELECT `environment_id` FROM `stacks` WHERE `stacks`.`id` = `alarms`.`stack_id`);
--> statement-breakpoint
-- The Worker of the previous release does not know the column.
CREATE TRIGGER `alarms_of_environment` AFTER INSERT ON `alarms` WHEN new.environment_id IS NULL BEGIN
	UPDATE `alarms` SET `environment_id` = (SELECT `environment_id` FROM `stacks` WHERE `id` = new.stack_id) WHERE `id` = new.id;
END;
--> statement-breakpoint
CREATE INDEX `alarms_environment` ON `alarms` (`environment_id`,`state`,`changed_at`,`id`);--> statement-breakpoint
ALTER TABLE `environments` ADD `position` integer;--> statement-breakpoint
CREATE INDEX `stacks_url` ON `stacks` (`environment_id`,`created_at`,`id`) WHERE outputs ->> 'url' is not null;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_environments_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_insert` AFTER INSERT ON `environments` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'environments', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.name) + octet_length(new.configuration) + coalesce(octet_length(new.source), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.epoch) + octet_length(new.started_number) + octet_length(new.configuration_version) + octet_length(new.record_version) + coalesce(octet_length(new.position), 0))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_environments_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_delete` AFTER DELETE ON `environments` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.name) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.epoch) + octet_length(old.started_number) + octet_length(old.configuration_version) + octet_length(old.record_version) + coalesce(octet_length(old.position), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'environments';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_environments_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_update` AFTER UPDATE OF `project_id`, `name`, `configuration`, `source`, `created_at`, `updated_at`, `epoch`, `started_number`, `configuration_version`, `record_version`, `position` ON `environments`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.name) + octet_length(new.configuration) + coalesce(octet_length(new.source), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.epoch) + octet_length(new.started_number) + octet_length(new.configuration_version) + octet_length(new.record_version) + coalesce(octet_length(new.position), 0)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.name) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.epoch) + octet_length(old.started_number) + octet_length(old.configuration_version) + octet_length(old.record_version) + coalesce(octet_length(old.position), 0)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.name) + octet_length(new.configuration) + coalesce(octet_length(new.source), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.epoch) + octet_length(new.started_number) + octet_length(new.configuration_version) + octet_length(new.record_version) + coalesce(octet_length(new.position), 0)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.name) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.epoch) + octet_length(old.started_number) + octet_length(old.configuration_version) + octet_length(old.record_version) + coalesce(octet_length(old.position), 0))
	WHERE `organization_id` = new.organization_id AND `kind` = 'environments';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_environments_tombstone`;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_tombstone` AFTER UPDATE OF `organization_id` ON `environments` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.name) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.epoch) + octet_length(old.started_number) + octet_length(old.configuration_version) + octet_length(old.record_version) + coalesce(octet_length(old.position), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'environments';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_alarms_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_alarms_insert` AFTER INSERT ON `alarms` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'alarms', 1, octet_length(new.id) + octet_length(new.stack_id) + coalesce(octet_length(new.environment_id), 0) + octet_length(new.name) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.state) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.changed_at) + octet_length(new.updated_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_alarms_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_alarms_delete` AFTER DELETE ON `alarms` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.stack_id) + coalesce(octet_length(old.environment_id), 0) + octet_length(old.name) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.state) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.changed_at) + octet_length(old.updated_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'alarms';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_alarms_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_alarms_update` AFTER UPDATE OF `stack_id`, `environment_id`, `name`, `project_id`, `state`, `reason`, `created_at`, `changed_at`, `updated_at` ON `alarms`
WHEN (octet_length(new.id) + octet_length(new.stack_id) + coalesce(octet_length(new.environment_id), 0) + octet_length(new.name) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.state) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.changed_at) + octet_length(new.updated_at)) <> (octet_length(old.id) + octet_length(old.stack_id) + coalesce(octet_length(old.environment_id), 0) + octet_length(old.name) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.state) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.changed_at) + octet_length(old.updated_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.stack_id) + coalesce(octet_length(new.environment_id), 0) + octet_length(new.name) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.state) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.changed_at) + octet_length(new.updated_at)) - (octet_length(old.id) + octet_length(old.stack_id) + coalesce(octet_length(old.environment_id), 0) + octet_length(old.name) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.state) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.changed_at) + octet_length(old.updated_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'alarms';
END;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'environments';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'environments', sum(1), sum(octet_length(environments.id) + octet_length(environments.organization_id) + octet_length(environments.project_id) + octet_length(environments.name) + octet_length(environments.configuration) + coalesce(octet_length(environments.source), 0) + octet_length(environments.created_at) + octet_length(environments.updated_at) + octet_length(environments.epoch) + octet_length(environments.started_number) + octet_length(environments.configuration_version) + octet_length(environments.record_version) + coalesce(octet_length(environments.position), 0)) FROM `environments`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'alarms';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'alarms', sum(1), sum(octet_length(alarms.id) + octet_length(alarms.stack_id) + coalesce(octet_length(alarms.environment_id), 0) + octet_length(alarms.name) + octet_length(alarms.organization_id) + octet_length(alarms.project_id) + octet_length(alarms.state) + coalesce(octet_length(alarms.reason), 0) + octet_length(alarms.created_at) + octet_length(alarms.changed_at) + octet_length(alarms.updated_at)) FROM `alarms`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;