-- Only for releases before this one: to be removed.

CREATE TRIGGER `alarms_of_environment` AFTER INSERT ON `alarms` WHEN new.environment_id IS NULL BEGIN
	UPDATE `alarms` SET `environment_id` = (SELECT `environment_id` FROM `stacks` WHERE `id` = new.stack_id) WHERE `id` = new.id;
END;

CREATE TRIGGER `attempts_unheld` BEFORE INSERT ON `attempts` WHEN new.state = 'offered' AND NOT EXISTS (
	SELECT 1 FROM `deployments` WHERE `id` = new.deployment_id AND `held_until` <= new.created_at
) BEGIN
	SELECT raise(IGNORE);
END;

CREATE TRIGGER `audit_records_copy` AFTER INSERT ON `audit_records` BEGIN
	INSERT INTO `audit_log` (`id`, `organization_id`, `created_at`, `action`, `outcome`, `actor_type`, `credential_id`, `membership_id`, `account_id`, `pool_id`, `target_type`, `target_id`, `project_id`)
	SELECT new.id, new.organization_id, new.created_at, new.action, 'success',
		iif(new.action = 'variables.delivered', 'runner_token', iif(new.action = 'variable.revealed', 'api_key', 'operator')),
		iif(new.action LIKE 'variable%', new.key_id, NULL),
		iif(new.action = 'variable.revealed', new.membership_id, NULL),
		iif(new.action = 'variable.revealed', new.account_id, NULL),
		iif(new.action = 'variables.delivered', new.account_id, NULL),
		iif(new.action = 'variables.delivered', 'attempt', iif(new.action = 'variable.revealed', 'variable',
		iif(EXISTS (SELECT 1 FROM `runner_tokens` WHERE `runner_tokens`.`id` = new.record_id), 'runner_token', 'api_key'))),
		new.record_id, iif(new.action LIKE 'variable%', new.project_id, NULL);
END;

CREATE TRIGGER `components_record_version` AFTER UPDATE OF `name`, `kind` ON `components`
WHEN new.record_version = old.record_version AND (new.name IS NOT old.name OR new.kind IS NOT old.kind) BEGIN
	UPDATE `components` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;

CREATE TRIGGER `deployments_started_unheld` BEFORE UPDATE OF `status` ON `deployments`
WHEN old.status = 'queued' AND new.status = 'in_progress' AND coalesce(new.held_until > new.started_at, 1) BEGIN
	SELECT raise(IGNORE);
END;

CREATE TRIGGER `deployments_unheld` AFTER INSERT ON `deployments` WHEN new.held_until IS NULL AND NOT EXISTS (
	SELECT 1 FROM `environment_protections` WHERE `environment_id` = new.environment_id AND `rules` <> '{}'
) AND NOT EXISTS (
	SELECT 1 FROM `freezes` WHERE `organization_id` = new.organization_id AND `ends_at` > new.created_at
		AND (`project_id` IS NULL OR `project_id` = new.project_id)
) BEGIN
	UPDATE `deployments` SET `held_until` = 0 WHERE `id` = new.id;
END;

CREATE TRIGGER `environment_positions_of_environments` AFTER UPDATE OF `position` ON `environments` WHEN new.position IS NOT NULL BEGIN
	INSERT INTO `environment_positions` (`environment_id`, `organization_id`, `position`)
	VALUES (new.id, new.organization_id, new.position)
	ON CONFLICT (`environment_id`) DO UPDATE SET `position` = excluded.position;
END;

CREATE TRIGGER `environments_record_version` AFTER UPDATE OF `name`, `configuration` ON `environments`
WHEN new.record_version = old.record_version AND (new.name IS NOT old.name OR new.configuration IS NOT old.configuration) BEGIN
	UPDATE `environments` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;

CREATE TRIGGER `integrations_record_version` AFTER UPDATE OF `configuration`, `shown_url`, `environment_ids`, `stack_ids`, `previous_secret_until` ON `integrations`
WHEN new.record_version = old.record_version AND (new.configuration IS NOT old.configuration OR new.shown_url IS NOT old.shown_url OR new.environment_ids IS NOT old.environment_ids OR new.stack_ids IS NOT old.stack_ids OR new.previous_secret_until IS NOT old.previous_secret_until) BEGIN
	UPDATE `integrations` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;

CREATE TRIGGER `project_members_record_version` AFTER UPDATE OF `role` ON `project_members`
WHEN new.record_version = old.record_version AND (new.role IS NOT old.role) BEGIN
	UPDATE `project_members` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;

CREATE TRIGGER `projects_connected` AFTER UPDATE OF `connection_status` ON `projects`
WHEN new.connection_status = 'connected' AND new.disconnected_at IS NOT NULL BEGIN
	UPDATE `projects` SET `disconnected_at` = NULL, `disconnected_by` = NULL WHERE `id` = new.id;
END;

CREATE TRIGGER `projects_disconnecting` AFTER UPDATE OF `connection_status` ON `projects`
WHEN new.connection_status = 'disconnecting' AND old.connection_status <> 'disconnecting' BEGIN
	UPDATE `projects` SET `disconnected_at` = new.updated_at WHERE `id` = new.id;
END;

CREATE TRIGGER `projects_record_version` AFTER UPDATE OF `name`, `description`, `icon`, `repo_id`, `default_environment_id` ON `projects`
WHEN new.record_version = old.record_version AND (new.name IS NOT old.name OR new.description IS NOT old.description OR new.icon IS NOT old.icon OR new.repo_id IS NOT old.repo_id OR new.default_environment_id IS NOT old.default_environment_id) BEGIN
	UPDATE `projects` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;

CREATE TRIGGER `stacks_record_version` AFTER UPDATE OF `name`, `component_id` ON `stacks`
WHEN new.record_version = old.record_version AND (new.name IS NOT old.name OR new.component_id IS NOT old.component_id) BEGIN
	UPDATE `stacks` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;
