-- Counts the bytes of a deployment's stack reasons, so that a page is cut before any stack is read.

CREATE TRIGGER `deployment_stacks_reason_changed` AFTER UPDATE OF `status_reason` ON `deployment_stacks`
WHEN new.status_reason IS NOT old.status_reason BEGIN
	UPDATE `deployments` SET `reason_bytes` = `reason_bytes`
		+ iif(new.status_reason IS NULL, 0, octet_length(json_quote(new.status_reason)) + 17)
		- iif(old.status_reason IS NULL, 0, octet_length(json_quote(old.status_reason)) + 17)
	WHERE `id` = new.deployment_id;
END;

CREATE TRIGGER `deployment_stacks_reason_inserted` AFTER INSERT ON `deployment_stacks`
WHEN new.status_reason IS NOT NULL BEGIN
	UPDATE `deployments` SET `reason_bytes` = (
		SELECT sum(octet_length(json_quote(status_reason)) + 17) FROM `deployment_stacks`
		WHERE deployment_id = new.deployment_id AND status_reason IS NOT NULL)
	WHERE `id` = new.deployment_id;
END;
