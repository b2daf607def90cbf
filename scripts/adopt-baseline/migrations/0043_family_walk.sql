CREATE INDEX `api_keys_created_by_alone` ON `api_keys` (`created_by_key_id`) WHERE issued_by_key_id is null;--> statement-breakpoint
CREATE INDEX `api_keys_created_by_without_trust` ON `api_keys` (`created_by_key_id`) WHERE trust_id is null;--> statement-breakpoint
CREATE INDEX `revoked_keys_created_by_alone` ON `revoked_keys` (`created_by_key_id`) WHERE issued_by_key_id is null;--> statement-breakpoint
CREATE INDEX `runner_tokens_created_by_alone` ON `runner_tokens` (`created_by_key_id`) WHERE issued_by_key_id is null;--> statement-breakpoint
CREATE INDEX `runner_tokens_created_by_without_trust` ON `runner_tokens` (`created_by_key_id`) WHERE trust_id is null;