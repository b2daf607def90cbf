CREATE TABLE `limit_checks` (
	`organization_id` text NOT NULL,
	`is_within` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	CONSTRAINT "limit_exceeded" CHECK(is_within = 1)
);
--> statement-breakpoint
CREATE TABLE `usage` (
	`organization_id` text NOT NULL,
	`kind` text NOT NULL,
	`records` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `kind`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `deployments_redeployable` ON `deployments` (`environment_id`,`number`) WHERE configuration <> '';--> statement-breakpoint
CREATE INDEX `memberships_account` ON `memberships` (`account_id`,`role`);--> statement-breakpoint
CREATE TRIGGER `usage_projects_insert` AFTER INSERT ON `projects` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'projects', 1, octet_length(new.name) + coalesce(octet_length(new.description), 0) + coalesce(octet_length(new.icon), 0))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_projects_delete` AFTER DELETE ON `projects` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.name) + coalesce(octet_length(old.description), 0) + coalesce(octet_length(old.icon), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'projects';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_projects_update` AFTER UPDATE OF `name`, `description`, `icon` ON `projects`
WHEN (octet_length(new.name) + coalesce(octet_length(new.description), 0) + coalesce(octet_length(new.icon), 0)) <> (octet_length(old.name) + coalesce(octet_length(old.description), 0) + coalesce(octet_length(old.icon), 0)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.name) + coalesce(octet_length(new.description), 0) + coalesce(octet_length(new.icon), 0)) - (octet_length(old.name) + coalesce(octet_length(old.description), 0) + coalesce(octet_length(old.icon), 0))
	WHERE `organization_id` = new.organization_id AND `kind` = 'projects';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_insert` AFTER INSERT ON `environments` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'environments', 1, octet_length(new.name) + octet_length(new.configuration))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_delete` AFTER DELETE ON `environments` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.name) + octet_length(old.configuration))
	WHERE `organization_id` = old.organization_id AND `kind` = 'environments';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_update` AFTER UPDATE OF `name`, `configuration` ON `environments`
WHEN (octet_length(new.name) + octet_length(new.configuration)) <> (octet_length(old.name) + octet_length(old.configuration)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.name) + octet_length(new.configuration)) - (octet_length(old.name) + octet_length(old.configuration))
	WHERE `organization_id` = new.organization_id AND `kind` = 'environments';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_components_insert` AFTER INSERT ON `components` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'components', 1, octet_length(new.name))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_components_delete` AFTER DELETE ON `components` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.name))
	WHERE `organization_id` = old.organization_id AND `kind` = 'components';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_components_update` AFTER UPDATE OF `name` ON `components`
WHEN (octet_length(new.name)) <> (octet_length(old.name)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.name)) - (octet_length(old.name))
	WHERE `organization_id` = new.organization_id AND `kind` = 'components';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_insert` AFTER INSERT ON `stacks` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'stacks', 1, octet_length(new.name))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_delete` AFTER DELETE ON `stacks` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.name))
	WHERE `organization_id` = old.organization_id AND `kind` = 'stacks';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_update` AFTER UPDATE OF `name` ON `stacks`
WHEN (octet_length(new.name)) <> (octet_length(old.name)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.name)) - (octet_length(old.name))
	WHERE `organization_id` = new.organization_id AND `kind` = 'stacks';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_variables_insert` AFTER INSERT ON `variables` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'variables', 1, octet_length(new.name) + octet_length(new.value))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_variables_delete` AFTER DELETE ON `variables` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.name) + octet_length(old.value))
	WHERE `organization_id` = old.organization_id AND `kind` = 'variables';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_variables_update` AFTER UPDATE OF `name`, `value` ON `variables`
WHEN (octet_length(new.name) + octet_length(new.value)) <> (octet_length(old.name) + octet_length(old.value)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.name) + octet_length(new.value)) - (octet_length(old.name) + octet_length(old.value))
	WHERE `organization_id` = new.organization_id AND `kind` = 'variables';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_alarms_insert` AFTER INSERT ON `alarms` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'alarms', 1, octet_length(new.name) + coalesce(octet_length(new.reason), 0))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_alarms_delete` AFTER DELETE ON `alarms` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.name) + coalesce(octet_length(old.reason), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'alarms';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_alarms_update` AFTER UPDATE OF `name`, `reason` ON `alarms`
WHEN (octet_length(new.name) + coalesce(octet_length(new.reason), 0)) <> (octet_length(old.name) + coalesce(octet_length(old.reason), 0)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.name) + coalesce(octet_length(new.reason), 0)) - (octet_length(old.name) + coalesce(octet_length(old.reason), 0))
	WHERE `organization_id` = new.organization_id AND `kind` = 'alarms';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_members_insert` AFTER INSERT ON `memberships` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'members', 1, 0)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_members_delete` AFTER DELETE ON `memberships` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (0)
	WHERE `organization_id` = old.organization_id AND `kind` = 'members';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_project_members_insert` AFTER INSERT ON `project_members` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'project_members', 1, 0)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_project_members_delete` AFTER DELETE ON `project_members` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (0)
	WHERE `organization_id` = old.organization_id AND `kind` = 'project_members';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_insert` AFTER INSERT ON `api_keys` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'api_keys', 1, octet_length(new.name))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_delete` AFTER DELETE ON `api_keys` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.name))
	WHERE `organization_id` = old.organization_id AND `kind` = 'api_keys';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_update` AFTER UPDATE OF `name` ON `api_keys`
WHEN (octet_length(new.name)) <> (octet_length(old.name)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.name)) - (octet_length(old.name))
	WHERE `organization_id` = new.organization_id AND `kind` = 'api_keys';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_pools_insert` AFTER INSERT ON `runner_pools` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'runner_pools', 1, octet_length(new.name))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_pools_delete` AFTER DELETE ON `runner_pools` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.name))
	WHERE `organization_id` = old.organization_id AND `kind` = 'runner_pools';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_pools_update` AFTER UPDATE OF `name` ON `runner_pools`
WHEN (octet_length(new.name)) <> (octet_length(old.name)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.name)) - (octet_length(old.name))
	WHERE `organization_id` = new.organization_id AND `kind` = 'runner_pools';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_tokens_insert` AFTER INSERT ON `runner_tokens` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'runner_tokens', 1, octet_length(new.name))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_tokens_delete` AFTER DELETE ON `runner_tokens` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.name))
	WHERE `organization_id` = old.organization_id AND `kind` = 'runner_tokens';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_tokens_update` AFTER UPDATE OF `name` ON `runner_tokens`
WHEN (octet_length(new.name)) <> (octet_length(old.name)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.name)) - (octet_length(old.name))
	WHERE `organization_id` = new.organization_id AND `kind` = 'runner_tokens';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_integrations_insert` AFTER INSERT ON `integrations` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'integrations', 1, octet_length(new.configuration) + octet_length(new.url) + octet_length(new.shown_url) + coalesce(octet_length(new.secret), 0) + coalesce(octet_length(new.previous_secret), 0))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_integrations_delete` AFTER DELETE ON `integrations` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.configuration) + octet_length(old.url) + octet_length(old.shown_url) + coalesce(octet_length(old.secret), 0) + coalesce(octet_length(old.previous_secret), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'integrations';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_integrations_update` AFTER UPDATE OF `configuration`, `url`, `shown_url`, `secret`, `previous_secret` ON `integrations`
WHEN (octet_length(new.configuration) + octet_length(new.url) + octet_length(new.shown_url) + coalesce(octet_length(new.secret), 0) + coalesce(octet_length(new.previous_secret), 0)) <> (octet_length(old.configuration) + octet_length(old.url) + octet_length(old.shown_url) + coalesce(octet_length(old.secret), 0) + coalesce(octet_length(old.previous_secret), 0)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.configuration) + octet_length(new.url) + octet_length(new.shown_url) + coalesce(octet_length(new.secret), 0) + coalesce(octet_length(new.previous_secret), 0)) - (octet_length(old.configuration) + octet_length(old.url) + octet_length(old.shown_url) + coalesce(octet_length(old.secret), 0) + coalesce(octet_length(old.previous_secret), 0))
	WHERE `organization_id` = new.organization_id AND `kind` = 'integrations';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_deployments_insert` AFTER INSERT ON `deployments` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'deployments', 1, octet_length(new.patch) + octet_length(new.configuration) + coalesce(octet_length(new.source), 0) + coalesce(octet_length(new.reason), 0))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_deployments_delete` AFTER DELETE ON `deployments` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.patch) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0) + coalesce(octet_length(old.reason), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'deployments';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_deployments_update` AFTER UPDATE OF `patch`, `configuration`, `source`, `reason` ON `deployments`
WHEN (octet_length(new.patch) + octet_length(new.configuration) + coalesce(octet_length(new.source), 0) + coalesce(octet_length(new.reason), 0)) <> (octet_length(old.patch) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0) + coalesce(octet_length(old.reason), 0)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.patch) + octet_length(new.configuration) + coalesce(octet_length(new.source), 0) + coalesce(octet_length(new.reason), 0)) - (octet_length(old.patch) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0) + coalesce(octet_length(old.reason), 0))
	WHERE `organization_id` = new.organization_id AND `kind` = 'deployments';
END;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'projects', count(*), sum(octet_length(name) + coalesce(octet_length(description), 0) + coalesce(octet_length(icon), 0)) FROM `projects` WHERE true GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = excluded.records, `bytes` = excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'environments', count(*), sum(octet_length(name) + octet_length(configuration)) FROM `environments` WHERE true GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = excluded.records, `bytes` = excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'components', count(*), sum(octet_length(name)) FROM `components` WHERE true GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = excluded.records, `bytes` = excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'stacks', count(*), sum(octet_length(name)) FROM `stacks` WHERE true GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = excluded.records, `bytes` = excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'variables', count(*), sum(octet_length(name) + octet_length(value)) FROM `variables` WHERE true GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = excluded.records, `bytes` = excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'alarms', count(*), sum(octet_length(name) + coalesce(octet_length(reason), 0)) FROM `alarms` WHERE true GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = excluded.records, `bytes` = excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'members', count(*), 0 FROM `memberships` WHERE true GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = excluded.records, `bytes` = excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'project_members', count(*), 0 FROM `project_members` WHERE true GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = excluded.records, `bytes` = excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'api_keys', count(*), sum(octet_length(name)) FROM `api_keys` WHERE true GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = excluded.records, `bytes` = excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'runner_pools', count(*), sum(octet_length(name)) FROM `runner_pools` WHERE true GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = excluded.records, `bytes` = excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'runner_tokens', count(*), sum(octet_length(name)) FROM `runner_tokens` WHERE true GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = excluded.records, `bytes` = excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'integrations', count(*), sum(octet_length(configuration) + octet_length(url) + octet_length(shown_url) + coalesce(octet_length(secret), 0) + coalesce(octet_length(previous_secret), 0)) FROM `integrations` WHERE true GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = excluded.records, `bytes` = excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'deployments', count(*), sum(octet_length(patch) + octet_length(configuration) + coalesce(octet_length(source), 0) + coalesce(octet_length(reason), 0)) FROM `deployments` WHERE true GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = excluded.records, `bytes` = excluded.bytes;
