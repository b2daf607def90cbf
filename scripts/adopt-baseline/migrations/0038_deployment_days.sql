CREATE TABLE `deployment_days` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`day` integer NOT NULL,
	`succeeded` integer NOT NULL,
	`failed` integer NOT NULL,
	`canceled` integer NOT NULL,
	`superseded` integer NOT NULL,
	`queued` text NOT NULL,
	`run` text NOT NULL,
	`recoveries` integer NOT NULL,
	`recovery_ms` integer NOT NULL,
	`failing_since` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deployment_days_list` ON `deployment_days` (`environment_id`,`day`);--> statement-breakpoint
CREATE INDEX `deployment_days_project` ON `deployment_days` (`project_id`);
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_deployment_days_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployment_days_insert` AFTER INSERT ON `deployment_days` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.day) + 437)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_deployment_days_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployment_days_delete` AFTER DELETE ON `deployment_days` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.day) + 437)
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_deployment_days_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployment_days_update` AFTER UPDATE OF `project_id`, `environment_id`, `day` ON `deployment_days`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.day) + 437) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.day) + 437) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.day) + 437) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.day) + 437)
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
-- Each way to end a deployment sets its status. Durations are in 64 buckets: below 1 s, then three for each doubling.
CREATE TRIGGER `deployment_days_of_deployment` AFTER UPDATE OF `status` ON `deployments`
WHEN old.status IN ('queued', 'in_progress', 'canceling') AND new.status NOT IN ('queued', 'in_progress', 'canceling') BEGIN
	INSERT INTO `deployment_days` (`id`, `organization_id`, `project_id`, `environment_id`, `day`, `succeeded`, `failed`, `canceled`,
		`superseded`, `queued`, `run`, `recoveries`, `recovery_ms`, `failing_since`)
	SELECT new.id, new.organization_id, new.project_id, new.environment_id, ended.at / 86400000,
		new.status = 'succeeded', new.status = 'failed', new.status = 'canceled', new.status = 'superseded',
		iif(new.started_at IS NULL, '{}', json_object(CAST(iif(new.started_at - new.created_at < 1000, 0, min(63, 1 + CAST(3 * log2((new.started_at - new.created_at) / 1000.0) AS INTEGER))) AS TEXT), 1)),
		iif(new.started_at IS NULL, '{}', json_object(CAST(iif(ended.at - new.started_at < 1000, 0, min(63, 1 + CAST(3 * log2((ended.at - new.started_at) / 1000.0) AS INTEGER))) AS TEXT), 1)),
		new.status = 'succeeded' AND ended.failing_since IS NOT NULL,
		iif(new.status = 'succeeded', max(0, coalesce(ended.at - ended.failing_since, 0)), 0),
		CASE new.status WHEN 'succeeded' THEN NULL WHEN 'failed' THEN coalesce(ended.failing_since, ended.at) ELSE ended.failing_since END
	FROM (SELECT coalesce(new.finished_at, new.updated_at) AS at, (SELECT `failing_since` FROM `deployment_days`
		WHERE `environment_id` = new.environment_id ORDER BY `day` DESC LIMIT 1) AS failing_since) AS ended
	WHERE true
	ON CONFLICT (`environment_id`, `day`) DO UPDATE SET
		`succeeded` = `succeeded` + excluded.succeeded, `failed` = `failed` + excluded.failed,
		`canceled` = `canceled` + excluded.canceled, `superseded` = `superseded` + excluded.superseded,
		`queued` = iif(new.started_at IS NULL, `queued`, (SELECT json_set(`queued`, item.fullkey, coalesce(`queued` ->> item.fullkey, 0) + 1)
			FROM json_each(excluded.queued) AS item)),
		`run` = iif(new.started_at IS NULL, `run`, (SELECT json_set(`run`, item.fullkey, coalesce(`run` ->> item.fullkey, 0) + 1)
			FROM json_each(excluded.run) AS item)),
		`recoveries` = `recoveries` + excluded.recoveries, `recovery_ms` = `recovery_ms` + excluded.recovery_ms,
		`failing_since` = excluded.failing_since;
END;
