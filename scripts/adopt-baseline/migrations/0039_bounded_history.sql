ALTER TABLE `audit_days` ADD `bytes` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
DROP TRIGGER `audit_log_day`;
--> statement-breakpoint
CREATE TRIGGER `audit_log_day` AFTER INSERT ON `audit_log` BEGIN
	INSERT INTO `audit_days` (`organization_id`, `day`, `entries`, `bytes`)
	VALUES (new.organization_id, new.created_at / 86400000, 1,
		400 + coalesce(octet_length(new.changes), 0) + coalesce(octet_length(new.target_name), 0) + coalesce(octet_length(new.user_agent), 0))
	ON CONFLICT (`organization_id`) DO UPDATE SET
		`entries` = iif(excluded.day > `day`, 1, `entries` + (excluded.day = `day`)),
		`bytes` = iif(excluded.day > `day`, excluded.bytes, `bytes` + iif(excluded.day = `day`, excluded.bytes, 0)),
		`day` = max(`day`, excluded.day);
	SELECT raise(ABORT, 'audit_limit_reached') FROM `audit_days`
	WHERE `organization_id` = new.organization_id AND `day` = new.created_at / 86400000
		AND (`entries` > 100000 OR `bytes` > 134217728)
		AND new.actor_type <> 'operator' AND new.action NOT IN ('invitation.declined', 'project.disconnected')
		AND new.action NOT LIKE '%.deleted' AND new.action NOT LIKE '%.revoked' AND new.action NOT LIKE '%.removed';
END;
--> statement-breakpoint
DROP TRIGGER `idempotency_records_size`;
--> statement-breakpoint
CREATE TRIGGER `idempotency_records_size` AFTER INSERT ON `idempotency_records` BEGIN
	INSERT INTO `idempotency_totals` (`organization_id`, `bytes`) VALUES (new.organization_id, 300 + octet_length(new.key) + octet_length(new.result) + octet_length(new.secrets) + octet_length(new.changed_keys))
	ON CONFLICT (`organization_id`) DO UPDATE SET `bytes` = `bytes` + excluded.bytes;
	UPDATE `idempotency_records` SET `preceding_bytes` = coalesce((
		SELECT last.preceding_bytes + 300 + octet_length(last.key) + octet_length(last.result) + octet_length(last.secrets) + octet_length(last.changed_keys)
		FROM `idempotency_records` AS last WHERE last.credential_id = new.credential_id AND last.id <> new.id
		ORDER BY last.preceding_bytes DESC LIMIT 1), 0)
	WHERE `id` = new.id;
	DELETE FROM `idempotency_records` WHERE `credential_id` = new.credential_id AND `id` <> new.id AND `preceding_bytes` < (
		SELECT min(stored.own - 262144, max(stored.own - 16777216, stored.first + stored.total - 67108864)) FROM (
			SELECT newest.preceding_bytes + 300 + octet_length(newest.key) + octet_length(newest.result) + octet_length(newest.secrets) + octet_length(newest.changed_keys) AS own,
				(SELECT min(oldest.preceding_bytes) FROM `idempotency_records` AS oldest WHERE oldest.credential_id = newest.credential_id) AS first,
				(SELECT totals.bytes FROM `idempotency_totals` AS totals WHERE totals.organization_id = newest.organization_id) AS total
			FROM `idempotency_records` AS newest WHERE newest.id = new.id) AS stored);
	DELETE FROM `idempotency_records` WHERE `id` = new.id AND (
		SELECT max(own.bytes, coalesce((SELECT sum(founded.bytes) FROM `organizations` AS member
			JOIN `idempotency_totals` AS founded ON founded.organization_id = member.id
			WHERE member.limits_organization_id = organization.limits_organization_id), 0))
		FROM `idempotency_totals` AS own JOIN `organizations` AS organization ON organization.id = own.organization_id
		WHERE own.organization_id = new.organization_id) > 201326592;
	-- What a PATCH repeats has the same effect again.
	SELECT raise(ABORT, 'idempotency_limit_reached') WHERE new.status = 201
		AND NOT EXISTS (SELECT 1 FROM `idempotency_records` AS kept WHERE kept.id = new.id);
END;
--> statement-breakpoint
DROP TRIGGER `freezes_insert`;
--> statement-breakpoint
-- Each of them at most 500, so that no freeze holds up the database: a start decides again about the others.
CREATE TRIGGER `freezes_insert` AFTER INSERT ON `freezes` WHEN new.starts_at <= new.created_at AND new.ends_at > new.created_at BEGIN
	UPDATE `deployments` SET `held_until` = NULL WHERE `id` IN (
		SELECT waiting.id FROM `deployments` AS waiting INDEXED BY `deployments_organization_status`
		WHERE new.project_id IS NULL AND new.environment_ids IS NULL
			AND waiting.organization_id = new.organization_id AND waiting.status = 'queued' LIMIT 500);
	UPDATE `deployments` SET `held_until` = NULL WHERE `id` IN (
		SELECT waiting.id FROM `deployments` AS waiting INDEXED BY `deployments_project_status`
		WHERE new.project_id IS NOT NULL AND new.environment_ids IS NULL
			AND waiting.project_id = new.project_id AND waiting.status = 'queued' LIMIT 500);
	UPDATE `deployments` SET `held_until` = NULL WHERE `id` IN (
		SELECT waiting.id FROM json_each(new.environment_ids) AS item
		JOIN `deployments` AS waiting INDEXED BY `deployments_list_status` ON waiting.environment_id = item.value AND waiting.status = 'queued'
		WHERE waiting.organization_id = new.organization_id LIMIT 500);
END;
