ALTER TABLE `deployments` ADD `stack_count` integer;--> statement-breakpoint
ALTER TABLE `deployments` ADD `reason_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `memberships_service_accounts` ON `memberships` (`organization_id`,`created_at`,`id`) WHERE kind = 'service_account';--> statement-breakpoint
CREATE TRIGGER `deployment_stacks_reason_changed` AFTER UPDATE OF `status_reason` ON `deployment_stacks`
WHEN new.status_reason IS NOT old.status_reason BEGIN
	UPDATE `deployments` SET `reason_bytes` = `reason_bytes`
		+ iif(new.status_reason IS NULL, 0, octet_length(json_quote(new.status_reason)) + 17)
		- iif(old.status_reason IS NULL, 0, octet_length(json_quote(old.status_reason)) + 17)
	WHERE `id` = new.deployment_id;
END;
--> statement-breakpoint
-- A restore inserts rows with a reason, and may have counted them: it sums them again.
CREATE TRIGGER `deployment_stacks_reason_inserted` AFTER INSERT ON `deployment_stacks`
WHEN new.status_reason IS NOT NULL BEGIN
	UPDATE `deployments` SET `reason_bytes` = (
		SELECT sum(octet_length(json_quote(status_reason)) + 17) FROM `deployment_stacks`
		WHERE deployment_id = new.deployment_id AND status_reason IS NOT NULL)
	WHERE `id` = new.deployment_id;
END;
--> statement-breakpoint
UPDATE `deployments` SET `reason_bytes` = (
	SELECT sum(octet_length(json_quote(status_reason)) + 17) FROM `deployment_stacks`
	WHERE deployment_id = deployments.id AND status_reason IS NOT NULL)
WHERE `id` IN (SELECT deployment_id FROM `deployment_stacks` WHERE status_reason IS NOT NULL);
