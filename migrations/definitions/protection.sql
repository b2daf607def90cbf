-- Queued deployments are evaluated again when rules change or a freeze begins.

CREATE TRIGGER `deployment_approvals_content` AFTER UPDATE OF `status` ON `deployments` WHEN old.status = 'queued' AND new.status <> 'queued' BEGIN
	UPDATE `deployment_approvals` SET `content` = '' WHERE `deployment_id` = new.id AND `content` <> '';
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
