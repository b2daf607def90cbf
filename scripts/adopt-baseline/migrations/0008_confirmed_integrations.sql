ALTER TABLE `integrations` ADD `slack_channel` text;--> statement-breakpoint
ALTER TABLE `integrations` ADD `confirmed_at` integer;--> statement-breakpoint
ALTER TABLE `integrations` ADD `confirm_by` integer;--> statement-breakpoint
CREATE INDEX `integrations_unconfirmed` ON `integrations` (`confirm_by`) WHERE confirm_by is not null;--> statement-breakpoint
UPDATE `integrations` SET `confirmed_at` = `created_at` WHERE `type` = 'slack';