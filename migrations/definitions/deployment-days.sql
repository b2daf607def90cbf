-- Counts the deployments that end, by day and environment, so that no way to end one can leave it out.

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
