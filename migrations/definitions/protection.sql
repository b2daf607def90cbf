-- Queued deployments are evaluated again when rules change or a freeze begins. What rules compare of a success is
-- digested by the schedule.

CREATE TRIGGER `deployment_approvals_content` AFTER UPDATE OF `status` ON `deployments` WHEN old.status = 'queued' AND new.status <> 'queued' BEGIN
	UPDATE `deployment_approvals` SET `content` = '' WHERE `deployment_id` = new.id AND `content` <> '';
END;

CREATE TRIGGER `deployments_compared` AFTER UPDATE OF `status` ON `deployments` WHEN new.status = 'succeeded' AND old.status <> 'succeeded' BEGIN
	INSERT INTO `environment_successes` (`deployment_id`, `organization_id`, `environment_id`, `created_at`, `started_at`, `finished_at`, `source`, `start_basis`, `configuration_digest`)
	SELECT new.id, new.organization_id, new.environment_id, new.created_at, new.started_at, new.finished_at, new.source, new.start_basis, new.configuration_digest
	WHERE new.start_basis IS NOT NULL;
	DELETE FROM `environment_successes` WHERE `rowid` IN (
		SELECT `rowid` FROM `environment_successes` WHERE `environment_id` = new.environment_id ORDER BY `created_at` DESC LIMIT -1 OFFSET 20);
	UPDATE `deployments` SET `digests_due` = 1 WHERE `id` = new.id AND EXISTS (
		SELECT 1 FROM `environment_protections` AS protection JOIN json_each(protection.rules, '$.from.environment_ids') AS item
		WHERE protection.project_id = new.project_id AND protection.rules -> '$.from.same_configuration' IS NOT NULL
			AND item.value = new.environment_id);
END;

CREATE TRIGGER `environment_successes_changed` AFTER UPDATE OF `started_at`, `finished_at`, `configuration_digest` ON `deployments` WHEN old.status = 'succeeded' BEGIN
	UPDATE `environment_successes` SET `started_at` = new.started_at, `finished_at` = new.finished_at, `configuration_digest` = new.configuration_digest
	WHERE `deployment_id` = new.id;
END;

CREATE TRIGGER `environment_protections_compared_insert` AFTER INSERT ON `environment_protections`
WHEN new.rules -> '$.from.same_configuration' IS NOT NULL BEGIN
	UPDATE `deployments` SET `digests_due` = 1 WHERE `id` IN (
		SELECT (SELECT latest.id FROM `deployments` AS latest INDEXED BY `deployments_list_status`
			WHERE latest.environment_id = item.value AND latest.status = 'succeeded' ORDER BY latest.created_at DESC LIMIT 1)
		FROM json_each(new.rules, '$.from.environment_ids') AS item)
		AND `organization_id` = new.organization_id;
END;

CREATE TRIGGER `environment_protections_compared_update` AFTER UPDATE OF `rules` ON `environment_protections`
WHEN new.rules <> old.rules AND new.rules -> '$.from.same_configuration' IS NOT NULL BEGIN
	UPDATE `deployments` SET `digests_due` = 1 WHERE `id` IN (
		SELECT (SELECT latest.id FROM `deployments` AS latest INDEXED BY `deployments_list_status`
			WHERE latest.environment_id = item.value AND latest.status = 'succeeded' ORDER BY latest.created_at DESC LIMIT 1)
		FROM json_each(new.rules, '$.from.environment_ids') AS item)
		AND `organization_id` = new.organization_id;
END;

CREATE TRIGGER `environment_protections_insert` AFTER INSERT ON `environment_protections` BEGIN
	UPDATE `deployments` SET `held_until` = NULL WHERE `environment_id` = new.environment_id AND `status` = 'queued';
END;

CREATE TRIGGER `environment_protections_update` AFTER UPDATE OF `rules` ON `environment_protections` WHEN new.rules <> old.rules BEGIN
	UPDATE `deployments` SET `held_until` = NULL, `kept_rules` = CASE
		WHEN old.rules = '{}' OR EXISTS (SELECT 1 FROM json_each(`kept_rules`) AS kept WHERE kept.value = old.rules) THEN `kept_rules`
		ELSE json_insert(`kept_rules`, '$[#]', json(old.rules)) END
	WHERE `environment_id` = new.environment_id AND `status` = 'queued';
END;

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
