DROP INDEX `api_keys_owner`;--> statement-breakpoint
CREATE INDEX `api_keys_owner_without_trust` ON `api_keys` (`membership_id`) WHERE role = 'owner' and trust_id is null;