-- A deleted component stays until the purge has deleted its variables.
DROP TRIGGER `stacks_of_tombstone`;
--> statement-breakpoint
CREATE TRIGGER `stacks_of_tombstone` BEFORE INSERT ON `stacks`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `components` WHERE `id` = new.component_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `stacks_of_deleted_component` BEFORE UPDATE OF `component_id` ON `stacks`
WHEN (SELECT `organization_id` FROM `components` WHERE `id` = new.component_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
DROP TRIGGER `variables_of_tombstone`;
--> statement-breakpoint
CREATE TRIGGER `variables_of_tombstone` BEFORE INSERT ON `variables`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `components` WHERE `id` = new.component_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `usage_components_tombstone` AFTER UPDATE OF `organization_id` ON `components` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.name) + octet_length(old.kind) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'components';
END;