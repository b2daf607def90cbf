-- The usage counts stored bytes: the 0 of an expiry goes.
UPDATE `usage` SET `bytes` = `bytes`
	- (SELECT count(*) FROM `api_keys` WHERE `api_keys`.`organization_id` = `usage`.`organization_id` AND `expires_at` = 0)
WHERE `kind` = 'api_keys';
--> statement-breakpoint
DROP INDEX `api_keys_trust`;
--> statement-breakpoint
DROP INDEX `api_keys_trust_expires`;
--> statement-breakpoint
UPDATE `api_keys` SET `expires_at` = `narrowed_expires_at` WHERE `expires_at` = 0;
--> statement-breakpoint
ALTER TABLE `api_keys` DROP COLUMN `narrowed_expires_at`;
--> statement-breakpoint
CREATE INDEX `api_keys_trust` ON `api_keys` (`trust_id`,`expires_at`) WHERE trust_id is not null;
--> statement-breakpoint
CREATE INDEX `api_keys_trust_expires` ON `api_keys` (`expires_at`) WHERE trust_id is not null;
--> statement-breakpoint
DROP INDEX `api_keys_created_by_alone`;
--> statement-breakpoint
DROP INDEX `revoked_keys_created_by_alone`;
--> statement-breakpoint
DROP INDEX `runner_tokens_created_by_alone`;
--> statement-breakpoint
-- The bytes of the issuers, which are counted again below.
UPDATE `usage` SET `bytes` = `bytes`
	- (SELECT coalesce(sum(octet_length(`issued_by_key_id`)), 0) FROM `api_keys` WHERE `api_keys`.`organization_id` = `usage`.`organization_id`)
WHERE `kind` = 'api_keys';
--> statement-breakpoint
UPDATE `usage` SET `bytes` = `bytes`
	- (SELECT coalesce(sum(octet_length(`issued_by_key_id`)), 0) FROM `runner_tokens` WHERE `runner_tokens`.`organization_id` = `usage`.`organization_id`)
WHERE `kind` = 'runner_tokens';
--> statement-breakpoint
UPDATE `usage` SET `bytes` = `bytes`
	- (SELECT coalesce(sum(octet_length(`issued_by_key_id`)), 0) FROM `revoked_keys` WHERE `revoked_keys`.`organization_id` = `usage`.`organization_id`)
	- (SELECT coalesce(sum(octet_length(`issued_by_key_id`)), 0) FROM `trusts` WHERE `trusts`.`organization_id` = `usage`.`organization_id`)
WHERE `kind` = 'others';
--> statement-breakpoint
UPDATE `trusts` SET `issued_by_key_id` = `created_by_key_id` WHERE `issued_by_key_id` IS NULL;
--> statement-breakpoint
UPDATE `runner_tokens` SET `issued_by_key_id` = `created_by_key_id` WHERE `issued_by_key_id` IS NULL AND `created_by_key_id` IS NOT NULL;
--> statement-breakpoint
-- After a rotation with an overlap, `created_by_key_id` has the successor of a key, or the next one.
UPDATE `api_keys` SET `issued_by_key_id` = `created_by_key_id`
WHERE `issued_by_key_id` IS NULL AND `created_by_key_id` IS NOT NULL AND `created_by_key_id` IS NOT `replaced_by_key_id`
	AND NOT EXISTS (SELECT 1 FROM `api_keys` AS `successor`
		WHERE `successor`.`id` = `api_keys`.`replaced_by_key_id` AND `successor`.`replaced_by_key_id` = `api_keys`.`created_by_key_id`)
	AND NOT EXISTS (SELECT 1 FROM `revoked_keys` AS `successor`
		WHERE `successor`.`id` = `api_keys`.`replaced_by_key_id` AND `successor`.`replaced_by_key_id` = `api_keys`.`created_by_key_id`);
--> statement-breakpoint
UPDATE `revoked_keys` SET `issued_by_key_id` = `created_by_key_id`
WHERE `issued_by_key_id` IS NULL AND `created_by_key_id` IS NOT NULL AND `created_by_key_id` IS NOT `replaced_by_key_id`
	AND NOT EXISTS (SELECT 1 FROM `api_keys` AS `successor`
		WHERE `successor`.`id` = `revoked_keys`.`replaced_by_key_id` AND `successor`.`replaced_by_key_id` = `revoked_keys`.`created_by_key_id`)
	AND NOT EXISTS (SELECT 1 FROM `revoked_keys` AS `successor`
		WHERE `successor`.`id` = `revoked_keys`.`replaced_by_key_id` AND `successor`.`replaced_by_key_id` = `revoked_keys`.`created_by_key_id`);
--> statement-breakpoint
-- Such a key has the issuer that its successors have.
WITH RECURSIVE `chain`(`id`, `successor`, `issuer`) AS (
	SELECT `id`, `replaced_by_key_id`, NULL FROM `api_keys` WHERE `issued_by_key_id` IS NULL AND `created_by_key_id` IS NOT NULL
	UNION SELECT `chain`.`id`, `next`.`replaced_by_key_id`, `next`.`issued_by_key_id`
		FROM `chain` JOIN `api_keys` AS `next` ON `next`.`id` = `chain`.`successor` WHERE `chain`.`issuer` IS NULL
	UNION SELECT `chain`.`id`, `next`.`replaced_by_key_id`, `next`.`issued_by_key_id`
		FROM `chain` JOIN `revoked_keys` AS `next` ON `next`.`id` = `chain`.`successor` WHERE `chain`.`issuer` IS NULL)
UPDATE `api_keys` SET `issued_by_key_id` = (SELECT max(`issuer`) FROM `chain` WHERE `chain`.`id` = `api_keys`.`id`)
WHERE `issued_by_key_id` IS NULL AND `created_by_key_id` IS NOT NULL;
--> statement-breakpoint
WITH RECURSIVE `chain`(`id`, `successor`, `issuer`) AS (
	SELECT `id`, `replaced_by_key_id`, NULL FROM `revoked_keys` WHERE `issued_by_key_id` IS NULL AND `created_by_key_id` IS NOT NULL
	UNION SELECT `chain`.`id`, `next`.`replaced_by_key_id`, `next`.`issued_by_key_id`
		FROM `chain` JOIN `api_keys` AS `next` ON `next`.`id` = `chain`.`successor` WHERE `chain`.`issuer` IS NULL
	UNION SELECT `chain`.`id`, `next`.`replaced_by_key_id`, `next`.`issued_by_key_id`
		FROM `chain` JOIN `revoked_keys` AS `next` ON `next`.`id` = `chain`.`successor` WHERE `chain`.`issuer` IS NULL)
UPDATE `revoked_keys` SET `issued_by_key_id` = (SELECT max(`issuer`) FROM `chain` WHERE `chain`.`id` = `revoked_keys`.`id`)
WHERE `issued_by_key_id` IS NULL AND `created_by_key_id` IS NOT NULL;
--> statement-breakpoint
UPDATE `usage` SET `bytes` = `bytes`
	+ (SELECT coalesce(sum(octet_length(`issued_by_key_id`)), 0) FROM `api_keys` WHERE `api_keys`.`organization_id` = `usage`.`organization_id`)
WHERE `kind` = 'api_keys';
--> statement-breakpoint
UPDATE `usage` SET `bytes` = `bytes`
	+ (SELECT coalesce(sum(octet_length(`issued_by_key_id`)), 0) FROM `runner_tokens` WHERE `runner_tokens`.`organization_id` = `usage`.`organization_id`)
WHERE `kind` = 'runner_tokens';
--> statement-breakpoint
UPDATE `usage` SET `bytes` = `bytes`
	+ (SELECT coalesce(sum(octet_length(`issued_by_key_id`)), 0) FROM `revoked_keys` WHERE `revoked_keys`.`organization_id` = `usage`.`organization_id`)
	+ (SELECT coalesce(sum(octet_length(`issued_by_key_id`)), 0) FROM `trusts` WHERE `trusts`.`organization_id` = `usage`.`organization_id`)
WHERE `kind` = 'others';
