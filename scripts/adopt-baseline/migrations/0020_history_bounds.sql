CREATE TABLE `audit_days` (
	`organization_id` text PRIMARY KEY NOT NULL,
	`day` integer NOT NULL,
	`entries` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE TABLE `idempotency_totals` (
	`organization_id` text PRIMARY KEY NOT NULL,
	`bytes` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `idempotency_records_credential` ON `idempotency_records` (`credential_id`,`preceding_bytes`);
--> statement-breakpoint
INSERT INTO `idempotency_totals` (`organization_id`, `bytes`)
SELECT each.organization_id, sum(300 + octet_length(each.key) + octet_length(each.result) + octet_length(each.secrets) + octet_length(each.changed_keys)) FROM `idempotency_records` AS each GROUP BY each.organization_id;
--> statement-breakpoint
UPDATE `idempotency_records` SET `preceding_bytes` = 0;
--> statement-breakpoint
DROP TRIGGER `idempotency_records_size`;
--> statement-breakpoint
CREATE TRIGGER `idempotency_records_delete` AFTER DELETE ON `idempotency_records` BEGIN
	UPDATE `idempotency_totals` SET `bytes` = `bytes` - (300 + octet_length(old.key) + octet_length(old.result) + octet_length(old.secrets) + octet_length(old.changed_keys))
	WHERE `organization_id` = old.organization_id;
END;
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
END;
--> statement-breakpoint
CREATE TRIGGER `audit_log_day` AFTER INSERT ON `audit_log` BEGIN
	INSERT INTO `audit_days` (`organization_id`, `day`, `entries`) VALUES (new.organization_id, new.created_at / 86400000, 1)
	ON CONFLICT (`organization_id`) DO UPDATE SET
		`entries` = iif(excluded.day > `day`, 1, `entries` + (excluded.day = `day`)), `day` = max(`day`, excluded.day);
	SELECT raise(ABORT, 'audit_limit_reached') FROM `audit_days`
	WHERE `organization_id` = new.organization_id AND `day` = new.created_at / 86400000 AND `entries` > 100000
		AND new.actor_type <> 'operator' AND new.action NOT IN ('invitation.declined', 'project.disconnected')
		AND new.action NOT LIKE '%.deleted' AND new.action NOT LIKE '%.revoked' AND new.action NOT LIKE '%.removed';
END;
