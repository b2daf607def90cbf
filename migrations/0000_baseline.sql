CREATE TABLE `alarms` (
	`id` text PRIMARY KEY NOT NULL,
	`stack_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`source` text DEFAULT '' NOT NULL,
	`name` text NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`created_at` integer NOT NULL,
	`changed_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`stack_id`) REFERENCES `stacks`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `alarms_name` ON `alarms` (`stack_id`,`source`,`name`);--> statement-breakpoint
CREATE INDEX `alarms_list` ON `alarms` (`stack_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `alarms_project` ON `alarms` (`project_id`);--> statement-breakpoint
CREATE INDEX `alarms_environment` ON `alarms` (`environment_id`,`state`,`changed_at`,`id`);--> statement-breakpoint
CREATE TABLE `deployment_approvals` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`deployment_id` text NOT NULL,
	`membership_id` text NOT NULL,
	`decision` text NOT NULL,
	`comment` text,
	`digest` text NOT NULL,
	`basis` text NOT NULL,
	`content` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`deployment_id`) REFERENCES `deployments`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deployment_approvals_member` ON `deployment_approvals` (`deployment_id`,`membership_id`);--> statement-breakpoint
CREATE INDEX `deployment_approvals_environment` ON `deployment_approvals` (`environment_id`);--> statement-breakpoint
CREATE TABLE `project_connections` (
	`project_id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`provider` text NOT NULL,
	`account_id` text NOT NULL,
	`region` text NOT NULL,
	`role_arn` text,
	`external_id` text,
	`settings` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE TABLE `attempts` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`deployment_id` text,
	`plan_id` text,
	`pool_id` text NOT NULL,
	`request_id` text NOT NULL,
	`epoch` integer NOT NULL,
	`state` text NOT NULL,
	`offered_until` integer NOT NULL,
	`lease_until` integer,
	`lost_at` integer,
	`outcome` text,
	`completion` text,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`ended_at` integer,
	`token_id` text NOT NULL,
	`run_until` integer,
	`log_pending` integer DEFAULT false NOT NULL,
	`runner_name` text NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`deployment_id`) REFERENCES `deployments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`pool_id`) REFERENCES `runner_pools`(`id`) ON UPDATE no action ON DELETE restrict,
	CONSTRAINT "attempts_one_run" CHECK((deployment_id is null) <> (plan_id is null))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `attempts_request` ON `attempts` (`pool_id`,`request_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `attempts_live` ON `attempts` (`environment_id`) WHERE state <> 'ended';--> statement-breakpoint
CREATE INDEX `attempts_token` ON `attempts` (`token_id`,`created_at`,`id`) WHERE state <> 'ended';--> statement-breakpoint
CREATE INDEX `attempts_runner` ON `attempts` (`token_id`,`runner_name`,`created_at`) WHERE state <> 'ended';--> statement-breakpoint
CREATE INDEX `attempts_pool` ON `attempts` (`pool_id`,`created_at`,`id`) WHERE state <> 'ended';--> statement-breakpoint
CREATE INDEX `attempts_environment` ON `attempts` (`environment_id`);--> statement-breakpoint
CREATE INDEX `attempts_deployment` ON `attempts` (`deployment_id`);--> statement-breakpoint
CREATE INDEX `attempts_log_pending` ON `attempts` (`ended_at`) WHERE log_pending = 1 and state = 'ended';--> statement-breakpoint
CREATE TABLE `deployment_stacks` (
	`deployment_id` text NOT NULL,
	`stack_id` text NOT NULL,
	`organization_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`position` integer NOT NULL,
	`status` text NOT NULL,
	`status_reason` text,
	`seq` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`deployment_created_at` integer NOT NULL,
	`started_at` integer,
	PRIMARY KEY(`deployment_id`, `stack_id`),
	FOREIGN KEY (`deployment_id`) REFERENCES `deployments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deployment_stacks_order` ON `deployment_stacks` (`deployment_id`,`position`);--> statement-breakpoint
CREATE INDEX `deployment_stacks_list` ON `deployment_stacks` (`stack_id`,`deployment_created_at`,`deployment_id`);--> statement-breakpoint
CREATE INDEX `deployment_stacks_environment` ON `deployment_stacks` (`environment_id`);--> statement-breakpoint
CREATE INDEX `deployment_stacks_unfinished` ON `deployment_stacks` (`environment_id`,`stack_id`) WHERE status in ('pending', 'in_progress');--> statement-breakpoint
CREATE TABLE `deployments` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`number` integer NOT NULL,
	`status` text NOT NULL,
	`announced` text DEFAULT 'queued' NOT NULL,
	`queue` text NOT NULL,
	`patch` text NOT NULL,
	`configuration` text NOT NULL,
	`source` text,
	`keeps_source` integer DEFAULT false NOT NULL,
	`trigger` text DEFAULT 'api' NOT NULL,
	`reason` text,
	`failure_reason` text,
	`message` text,
	`cancel_deadline` integer,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	`updated_at` integer NOT NULL,
	`configuration_version` integer DEFAULT 0 NOT NULL,
	`is_absolute` integer DEFAULT true NOT NULL,
	`lapsed_offers` integer DEFAULT 0 NOT NULL,
	`released_offers` integer DEFAULT 0 NOT NULL,
	`record_version` integer DEFAULT 1 NOT NULL,
	`stack_count` integer DEFAULT 0 NOT NULL,
	`reason_bytes` integer DEFAULT 0 NOT NULL,
	`held_until` integer,
	`evaluated_at` integer,
	`awaits_approval` integer DEFAULT false NOT NULL,
	`kept_rules` text DEFAULT '[]' NOT NULL,
	`creators` text DEFAULT '[]' NOT NULL,
	`claims` text,
	`exempt` text,
	`overridden` text,
	`creator_type` text DEFAULT 'person' NOT NULL,
	`creator_membership_id` text DEFAULT '1111111111111111111111' NOT NULL,
	`creator_trust_id` text,
	`copied_id` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deployments_number` ON `deployments` (`environment_id`,`number`);--> statement-breakpoint
CREATE UNIQUE INDEX `deployments_active` ON `deployments` (`environment_id`) WHERE status in ('in_progress', 'canceling');--> statement-breakpoint
CREATE INDEX `deployments_list` ON `deployments` (`environment_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `deployments_list_status` ON `deployments` (`environment_id`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `deployments_organization` ON `deployments` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `deployments_organization_status` ON `deployments` (`organization_id`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `deployments_unannounced` ON `deployments` (`environment_id`) WHERE status <> announced;--> statement-breakpoint
CREATE INDEX `deployments_changed` ON `deployments` (`status`,`environment_id`) WHERE status <> announced;--> statement-breakpoint
CREATE INDEX `deployments_project` ON `deployments` (`project_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `deployments_project_status` ON `deployments` (`project_id`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `deployments_redeployable` ON `deployments` (`environment_id`,`number`) WHERE configuration <> '';--> statement-breakpoint
CREATE INDEX `deployments_history` ON `deployments` (`organization_id`,`id`) WHERE configuration = '';--> statement-breakpoint
CREATE INDEX `deployments_startable` ON `deployments` (`environment_id`,`held_until`) WHERE status = 'queued';--> statement-breakpoint
CREATE INDEX `deployments_held` ON `deployments` (`organization_id`,`evaluated_at`) WHERE status = 'queued' and held_until is not 0;--> statement-breakpoint
CREATE INDEX `deployments_overdue` ON `deployments` (`cancel_deadline`) WHERE status = 'canceling';--> statement-breakpoint
CREATE TABLE `freezes` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text,
	`environment_ids` text,
	`name` text NOT NULL,
	`reason` text NOT NULL,
	`starts_at` integer NOT NULL,
	`ends_at` integer NOT NULL,
	`override` text NOT NULL,
	`created_by_membership_id` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `freezes_list` ON `freezes` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `freezes_ends` ON `freezes` (`organization_id`,`ends_at`);--> statement-breakpoint
CREATE INDEX `freezes_project` ON `freezes` (`project_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `deployment_days` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`day` integer NOT NULL,
	`succeeded` integer NOT NULL,
	`failed` integer NOT NULL,
	`canceled` integer NOT NULL,
	`superseded` integer NOT NULL,
	`queued` text NOT NULL,
	`run` text NOT NULL,
	`recoveries` integer NOT NULL,
	`recovery_ms` integer NOT NULL,
	`failing_since` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deployment_days_list` ON `deployment_days` (`environment_id`,`day`);--> statement-breakpoint
CREATE INDEX `deployment_days_project` ON `deployment_days` (`project_id`);--> statement-breakpoint
CREATE TABLE `resources` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`stack_id` text NOT NULL,
	`template_id` text NOT NULL,
	`physical_id` text NOT NULL,
	`resource_type` text NOT NULL,
	`status` text NOT NULL,
	`status_reason` text,
	`timestamp` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`stack_id`) REFERENCES `stacks`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `resources_template` ON `resources` (`stack_id`,`template_id`);--> statement-breakpoint
CREATE INDEX `resources_list` ON `resources` (`stack_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `resources_environment` ON `resources` (`environment_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `resources_project` ON `resources` (`project_id`);--> statement-breakpoint
CREATE INDEX `resources_live` ON `resources` (`stack_id`,`template_id`) WHERE status <> 'DELETE_COMPLETE';--> statement-breakpoint
CREATE INDEX `resources_deleted` ON `resources` (`updated_at`) WHERE status = 'DELETE_COMPLETE';--> statement-breakpoint
CREATE TABLE `runner_pool_environments` (
	`pool_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`organization_id` text NOT NULL,
	PRIMARY KEY(`pool_id`, `environment_id`),
	FOREIGN KEY (`pool_id`) REFERENCES `runner_pools`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `runner_pool_environments_environment` ON `runner_pool_environments` (`environment_id`);--> statement-breakpoint
CREATE TABLE `runners` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`pool_id` text NOT NULL,
	`token_id` text NOT NULL,
	`name` text NOT NULL,
	`version` text,
	`wanted_id` text,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`pool_id`) REFERENCES `runner_pools`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runners_name` ON `runners` (`pool_id`,`token_id`,`name`);--> statement-breakpoint
CREATE INDEX `runners_seen` ON `runners` (`pool_id`,`wanted_id`,`last_seen_at`);--> statement-breakpoint
CREATE INDEX `runners_list` ON `runners` (`pool_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `audit_days` (
	`organization_id` text PRIMARY KEY NOT NULL,
	`day` integer NOT NULL,
	`entries` integer NOT NULL,
	`bytes` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE TABLE `audit_log` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`action` text NOT NULL,
	`outcome` text NOT NULL,
	`actor_type` text NOT NULL,
	`credential_id` text,
	`membership_id` text,
	`account_id` text,
	`pool_id` text,
	`creator_key_id` text,
	`creator_membership_id` text,
	`target_type` text NOT NULL,
	`target_id` text NOT NULL,
	`target_name` text,
	`project_id` text,
	`client_address` text,
	`user_agent` text,
	`request_id` text,
	`changes` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `audit_log_list` ON `audit_log` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_project` ON `audit_log` (`project_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_credential` ON `audit_log` (`credential_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_membership` ON `audit_log` (`membership_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_target` ON `audit_log` (`target_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_action` ON `audit_log` (`organization_id`,`action`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `changelog_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`account_id` text,
	`membership_id` text,
	`key_id` text,
	`action` text NOT NULL,
	`record_type` text NOT NULL,
	`record_id` text NOT NULL,
	`record_name` text,
	`before` text,
	`after` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `changelog_entries_organization` ON `changelog_entries` (`organization_id`,`id`);--> statement-breakpoint
CREATE INDEX `changelog_entries_list` ON `changelog_entries` (`project_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `changelog_entries_member` ON `changelog_entries` (`record_id`) WHERE record_type = 'project_member';--> statement-breakpoint
CREATE TABLE `idempotency_records` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`credential_id` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`status` integer NOT NULL,
	`result` text NOT NULL,
	`secrets` text NOT NULL,
	`changed_keys` text NOT NULL,
	`created_at` integer NOT NULL,
	`preceding_bytes` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `idempotency_records_key` ON `idempotency_records` (`credential_id`,`key`);--> statement-breakpoint
CREATE INDEX `idempotency_records_size` ON `idempotency_records` (`organization_id`,`preceding_bytes`);--> statement-breakpoint
CREATE INDEX `idempotency_records_credential` ON `idempotency_records` (`credential_id`,`preceding_bytes`);--> statement-breakpoint
CREATE INDEX `idempotency_records_age` ON `idempotency_records` (`created_at`);--> statement-breakpoint
CREATE TABLE `idempotency_totals` (
	`organization_id` text PRIMARY KEY NOT NULL,
	`bytes` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE TABLE `integrations` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`type` text NOT NULL,
	`configuration` text NOT NULL,
	`url` text NOT NULL,
	`shown_url` text NOT NULL,
	`environment_ids` text,
	`stack_ids` text,
	`secret` text,
	`previous_secret` text,
	`previous_secret_until` integer,
	`disabled_at` integer,
	`disabled_reason` text,
	`failing_since` integer,
	`paused_until` integer,
	`failure_notified_at` integer,
	`pause_notified_at` integer,
	`last_sent_at` integer,
	`links_to` text,
	`slack_channel` text,
	`confirmed_at` integer,
	`confirm_by` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`record_version` integer DEFAULT 1 NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `integrations_list` ON `integrations` (`project_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `integrations_unconfirmed` ON `integrations` (`confirm_by`) WHERE confirm_by is not null;--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`integration_id` text NOT NULL,
	`event_id` text NOT NULL,
	`type` text NOT NULL,
	`occurred_at` integer NOT NULL,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`due_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`finished_at` integer,
	`failure_reason` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`integration_id`) REFERENCES `integrations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `deliveries_finished` ON `deliveries` (`organization_id`,`id`) WHERE status <> 'pending';--> statement-breakpoint
CREATE INDEX `deliveries_list` ON `deliveries` (`integration_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `deliveries_list_status` ON `deliveries` (`integration_id`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `deliveries_project` ON `deliveries` (`project_id`);--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`organization_id`,`integration_id`,`due_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `deliveries_redelivered` ON `deliveries` (`integration_id`,`event_id`) WHERE created_at > occurred_at;--> statement-breakpoint
CREATE INDEX `deliveries_pending_event` ON `deliveries` (`event_id`) WHERE status = 'pending';--> statement-breakpoint
CREATE TABLE `delivery_attempts` (
	`delivery_id` text NOT NULL,
	`number` integer NOT NULL,
	`organization_id` text NOT NULL,
	`started_at` integer NOT NULL,
	`duration_ms` integer NOT NULL,
	`status_code` integer,
	`error` text,
	`response` text,
	PRIMARY KEY(`delivery_id`, `number`),
	FOREIGN KEY (`delivery_id`) REFERENCES `deliveries`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE TABLE `events` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text,
	`type` text NOT NULL,
	`data` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `events_organization` ON `events` (`organization_id`,`id`);--> statement-breakpoint
CREATE INDEX `events_list` ON `events` (`project_id`,`type`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `events_list_environment` ON `events` (`project_id`,`environment_id`,`type`,`created_at`,`id`) WHERE environment_id is not null;--> statement-breakpoint
CREATE TABLE `purges` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`record_type` text NOT NULL,
	`record_id` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `purges_resources` ON `purges` (`organization_id`,`id`) WHERE record_type <> 'organization';--> statement-breakpoint
CREATE INDEX `purges_organizations` ON `purges` (`organization_id`) WHERE record_type = 'organization';--> statement-breakpoint
CREATE TABLE `quotas` (
	`organization_id` text NOT NULL,
	`kind` text NOT NULL,
	`allowed` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `kind`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE TABLE `history_positions` (
	`table_name` text PRIMARY KEY NOT NULL,
	`position` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `history_usage` (
	`organization_id` text NOT NULL,
	`kind` text NOT NULL,
	`records` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `kind`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE TABLE `limit_checks` (
	`organization_id` text NOT NULL,
	`is_within` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	CONSTRAINT "limit_exceeded" CHECK(is_within = 1)
);
--> statement-breakpoint
CREATE TABLE `usage` (
	`organization_id` text NOT NULL,
	`kind` text NOT NULL,
	`records` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `kind`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE TABLE `bootstraps` (
	`only` integer PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	CONSTRAINT "bootstraps_only_one" CHECK("bootstraps"."only" = 1)
);
--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`membership_id` text NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`secret_hash` text NOT NULL,
	`last_four` text NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`expires_at` integer,
	`last_used_at` integer,
	`created_at` integer NOT NULL,
	`scopes` text,
	`project_ids` text,
	`environment_ids` text,
	`created_by_key_id` text,
	`created_by_membership_id` text,
	`issued_by_key_id` text,
	`created_by_session_id` text,
	`rotated_by_key_id` text,
	`replaced_by_key_id` text,
	`trust_id` text,
	`claims` text,
	`session_id` text,
	`is_own` integer DEFAULT false NOT NULL,
	`expires_by_policy` integer DEFAULT false NOT NULL,
	`record_version` integer DEFAULT 1 NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`membership_id`) REFERENCES `memberships`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_secret_hash` ON `api_keys` (`secret_hash`);--> statement-breakpoint
CREATE INDEX `api_keys_list` ON `api_keys` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `api_keys_name` ON `api_keys` (`organization_id`,`name`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `api_keys_without_trust` ON `api_keys` (`organization_id`) WHERE trust_id is null;--> statement-breakpoint
CREATE INDEX `api_keys_membership` ON `api_keys` (`membership_id`);--> statement-breakpoint
CREATE INDEX `api_keys_owner_without_trust` ON `api_keys` (`membership_id`) WHERE role = 'owner' and trust_id is null;--> statement-breakpoint
CREATE INDEX `api_keys_created_by` ON `api_keys` (`created_by_key_id`);--> statement-breakpoint
CREATE INDEX `api_keys_created_by_without_trust` ON `api_keys` (`created_by_key_id`) WHERE trust_id is null;--> statement-breakpoint
CREATE INDEX `api_keys_issued_by` ON `api_keys` (`issued_by_key_id`) WHERE issued_by_key_id is not null;--> statement-breakpoint
CREATE INDEX `api_keys_created_by_session` ON `api_keys` (`created_by_session_id`) WHERE created_by_session_id is not null;--> statement-breakpoint
CREATE INDEX `api_keys_rotated_by` ON `api_keys` (`rotated_by_key_id`) WHERE rotated_by_key_id is not null;--> statement-breakpoint
CREATE INDEX `api_keys_replaced_by` ON `api_keys` (`replaced_by_key_id`) WHERE replaced_by_key_id is not null;--> statement-breakpoint
CREATE INDEX `api_keys_trust` ON `api_keys` (`trust_id`,`expires_at`) WHERE trust_id is not null;--> statement-breakpoint
CREATE INDEX `api_keys_session` ON `api_keys` (`session_id`) WHERE session_id is not null;--> statement-breakpoint
CREATE INDEX `api_keys_trust_expires` ON `api_keys` (`expires_at`) WHERE trust_id is not null;--> statement-breakpoint
CREATE TABLE `revoked_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`membership_id` text NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`last_four` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by_key_id` text,
	`created_by_membership_id` text,
	`issued_by_key_id` text,
	`created_by_session_id` text,
	`rotated_by_key_id` text,
	`replaced_by_key_id` text,
	`revoked_at` integer NOT NULL,
	`revoked_by_key_id` text,
	`revoked_by_membership_id` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `revoked_keys_list` ON `revoked_keys` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `revoked_keys_name` ON `revoked_keys` (`organization_id`,`name`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `revoked_keys_membership` ON `revoked_keys` (`membership_id`);--> statement-breakpoint
CREATE INDEX `revoked_keys_created_by` ON `revoked_keys` (`created_by_key_id`);--> statement-breakpoint
CREATE INDEX `revoked_keys_issued_by` ON `revoked_keys` (`issued_by_key_id`) WHERE issued_by_key_id is not null;--> statement-breakpoint
CREATE INDEX `revoked_keys_created_by_session` ON `revoked_keys` (`created_by_session_id`) WHERE created_by_session_id is not null;--> statement-breakpoint
CREATE INDEX `revoked_keys_rotated_by` ON `revoked_keys` (`rotated_by_key_id`) WHERE rotated_by_key_id is not null;--> statement-breakpoint
CREATE INDEX `revoked_keys_replaced_by` ON `revoked_keys` (`replaced_by_key_id`) WHERE replaced_by_key_id is not null;--> statement-breakpoint
CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`email` text NOT NULL,
	`name` text,
	`role` text NOT NULL,
	`secret_hash` text NOT NULL,
	`created_by_key_id` text NOT NULL,
	`created_by_membership_id` text NOT NULL,
	`created_by_session_id` text,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_secret_hash` ON `invitations` (`secret_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_email` ON `invitations` (`organization_id`,`email`);--> statement-breakpoint
CREATE INDEX `invitations_list` ON `invitations` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `invitations_address` ON `invitations` (`email`);--> statement-breakpoint
CREATE INDEX `invitations_created_by` ON `invitations` (`created_by_key_id`);--> statement-breakpoint
CREATE INDEX `invitations_created_by_session` ON `invitations` (`created_by_session_id`) WHERE created_by_session_id is not null;--> statement-breakpoint
CREATE TABLE `revocation_parts` (
	`id` integer PRIMARY KEY NOT NULL,
	`credentials` text NOT NULL,
	`is_last` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `runner_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`pool_id` text NOT NULL,
	`name` text NOT NULL,
	`secret_hash` text NOT NULL,
	`last_four` text NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`last_used_at` integer,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`created_by_key_id` text,
	`created_by_membership_id` text,
	`issued_by_key_id` text,
	`created_by_session_id` text,
	`rotated_by_key_id` text,
	`trust_id` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`pool_id`) REFERENCES `runner_pools`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runner_tokens_secret_hash` ON `runner_tokens` (`secret_hash`);--> statement-breakpoint
CREATE INDEX `runner_tokens_pool` ON `runner_tokens` (`pool_id`);--> statement-breakpoint
CREATE INDEX `runner_tokens_list` ON `runner_tokens` (`pool_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `runner_tokens_trust` ON `runner_tokens` (`trust_id`,`expires_at`) WHERE trust_id is not null;--> statement-breakpoint
CREATE INDEX `runner_tokens_trust_expires` ON `runner_tokens` (`expires_at`) WHERE trust_id is not null;--> statement-breakpoint
CREATE INDEX `runner_tokens_created_by` ON `runner_tokens` (`created_by_key_id`);--> statement-breakpoint
CREATE INDEX `runner_tokens_created_by_without_trust` ON `runner_tokens` (`created_by_key_id`) WHERE trust_id is null;--> statement-breakpoint
CREATE INDEX `runner_tokens_issued_by` ON `runner_tokens` (`issued_by_key_id`) WHERE issued_by_key_id is not null;--> statement-breakpoint
CREATE INDEX `runner_tokens_created_by_session` ON `runner_tokens` (`created_by_session_id`) WHERE created_by_session_id is not null;--> statement-breakpoint
CREATE INDEX `runner_tokens_rotated_by` ON `runner_tokens` (`rotated_by_key_id`) WHERE rotated_by_key_id is not null;--> statement-breakpoint
CREATE TABLE `ended_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`membership_id` text NOT NULL,
	`source` text NOT NULL,
	`key_id` text,
	`created_by_session_id` text,
	`created_at` integer NOT NULL,
	`ended_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `ended_sessions_list` ON `ended_sessions` (`membership_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `ended_sessions_retention` ON `ended_sessions` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `ended_sessions_key` ON `ended_sessions` (`key_id`);--> statement-breakpoint
CREATE INDEX `ended_sessions_created_by_session` ON `ended_sessions` (`created_by_session_id`) WHERE created_by_session_id is not null;--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`membership_id` text NOT NULL,
	`source` text NOT NULL,
	`key_id` text,
	`created_by_session_id` text,
	`secret_hash` text NOT NULL,
	`user_agent` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`membership_id`) REFERENCES `memberships`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_secret_hash` ON `sessions` (`secret_hash`);--> statement-breakpoint
CREATE INDEX `sessions_list` ON `sessions` (`membership_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `sessions_organization` ON `sessions` (`organization_id`);--> statement-breakpoint
CREATE INDEX `sessions_key` ON `sessions` (`key_id`);--> statement-breakpoint
CREATE INDEX `sessions_created_by_session` ON `sessions` (`created_by_session_id`) WHERE created_by_session_id is not null;--> statement-breakpoint
CREATE TABLE `sign_in_links` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`membership_id` text NOT NULL,
	`key_id` text NOT NULL,
	`created_by_session_id` text,
	`session_expires_at` integer,
	`secret_hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`membership_id`) REFERENCES `memberships`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sign_in_links_secret_hash` ON `sign_in_links` (`secret_hash`);--> statement-breakpoint
CREATE INDEX `sign_in_links_membership` ON `sign_in_links` (`membership_id`);--> statement-breakpoint
CREATE INDEX `sign_in_links_organization` ON `sign_in_links` (`organization_id`);--> statement-breakpoint
CREATE INDEX `sign_in_links_key` ON `sign_in_links` (`key_id`);--> statement-breakpoint
CREATE INDEX `sign_in_links_created_by_session` ON `sign_in_links` (`created_by_session_id`);--> statement-breakpoint
CREATE TABLE `trusts` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`issuer` text NOT NULL,
	`audience` text NOT NULL,
	`conditions` text NOT NULL,
	`membership_id` text,
	`pool_id` text,
	`role` text,
	`scopes` text,
	`project_ids` text,
	`environment_ids` text,
	`ttl_seconds` integer NOT NULL,
	`created_by_key_id` text NOT NULL,
	`created_by_membership_id` text NOT NULL,
	`issued_by_key_id` text,
	`created_by_session_id` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`membership_id`) REFERENCES `memberships`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`pool_id`) REFERENCES `runner_pools`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `trusts_list` ON `trusts` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `trusts_issuer` ON `trusts` (`organization_id`,`issuer`);--> statement-breakpoint
CREATE INDEX `trusts_membership` ON `trusts` (`membership_id`);--> statement-breakpoint
CREATE INDEX `trusts_pool` ON `trusts` (`pool_id`);--> statement-breakpoint
CREATE INDEX `trusts_created_by` ON `trusts` (`created_by_key_id`);--> statement-breakpoint
CREATE INDEX `trusts_issued_by` ON `trusts` (`issued_by_key_id`) WHERE issued_by_key_id is not null;--> statement-breakpoint
CREATE INDEX `trusts_created_by_session` ON `trusts` (`created_by_session_id`) WHERE created_by_session_id is not null;--> statement-breakpoint
CREATE TABLE `used_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `used_tokens_expires` ON `used_tokens` (`expires_at`);--> statement-breakpoint
CREATE INDEX `used_tokens_organization` ON `used_tokens` (`organization_id`);--> statement-breakpoint
CREATE TABLE `used_sign_ins` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `used_sign_ins_expires` ON `used_sign_ins` (`expires_at`);--> statement-breakpoint
CREATE INDEX `used_sign_ins_organization` ON `used_sign_ins` (`organization_id`);--> statement-breakpoint
CREATE TABLE `recoveries` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`integration_id` text NOT NULL,
	`since` integer NOT NULL,
	`until` integer NOT NULL,
	`status` text NOT NULL,
	`position` text,
	`recovered` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`finished_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`integration_id`) REFERENCES `integrations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `recoveries_project` ON `recoveries` (`project_id`);--> statement-breakpoint
CREATE INDEX `recoveries_list` ON `recoveries` (`integration_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `recoveries_running` ON `recoveries` (`id`) WHERE status = 'running';--> statement-breakpoint
CREATE TABLE `environment_protections` (
	`id` text PRIMARY KEY NOT NULL,
	`environment_id` text NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`rules` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`record_version` integer DEFAULT 1 NOT NULL,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `environment_protections_environment` ON `environment_protections` (`environment_id`);--> statement-breakpoint
CREATE INDEX `environment_protections_project` ON `environment_protections` (`project_id`);--> statement-breakpoint
CREATE TABLE `components` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`name` text NOT NULL,
	`kind` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`record_version` integer DEFAULT 1 NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `components_environment_name` ON `components` (`environment_id`,`name`);--> statement-breakpoint
CREATE INDEX `components_list` ON `components` (`environment_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `components_project` ON `components` (`project_id`);--> statement-breakpoint
CREATE TABLE `stacks` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`component_id` text,
	`name` text NOT NULL,
	`outputs` text DEFAULT '{}' NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`record_version` integer DEFAULT 1 NOT NULL,
	`resource_bytes` integer DEFAULT 0 NOT NULL,
	`resources_changed_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`component_id`) REFERENCES `components`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `stacks_environment_name` ON `stacks` (`environment_id`,`name`);--> statement-breakpoint
CREATE INDEX `stacks_list` ON `stacks` (`environment_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `stacks_component` ON `stacks` (`component_id`);--> statement-breakpoint
CREATE INDEX `stacks_project` ON `stacks` (`project_id`);--> statement-breakpoint
CREATE INDEX `stacks_url` ON `stacks` (`environment_id`,`created_at`,`id`) WHERE outputs ->> 'url' is not null;--> statement-breakpoint
CREATE INDEX `stacks_changed` ON `stacks` (`organization_id`,`resources_changed_at`) WHERE resources_changed_at is not null;--> statement-breakpoint
CREATE TABLE `variables` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`component_id` text,
	`scope_id` text NOT NULL,
	`name` text NOT NULL,
	`storage_method` text NOT NULL,
	`resource_id` text NOT NULL,
	`value` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`component_id`) REFERENCES `components`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `variables_scope_name` ON `variables` (`scope_id`,`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `variables_resource` ON `variables` (`resource_id`);--> statement-breakpoint
CREATE INDEX `variables_list` ON `variables` (`scope_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `variables_environment` ON `variables` (`environment_id`);--> statement-breakpoint
CREATE INDEX `variables_component` ON `variables` (`component_id`);--> statement-breakpoint
CREATE INDEX `variables_project` ON `variables` (`project_id`);--> statement-breakpoint
CREATE TABLE `environment_positions` (
	`environment_id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`position` integer NOT NULL,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE TABLE `environments` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`name` text NOT NULL,
	`configuration` text NOT NULL,
	`source` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`epoch` integer DEFAULT 0 NOT NULL,
	`started_number` integer DEFAULT 0 NOT NULL,
	`configuration_version` integer DEFAULT 0 NOT NULL,
	`record_version` integer DEFAULT 1 NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `environments_project_name` ON `environments` (`project_id`,`name`);--> statement-breakpoint
CREATE INDEX `environments_list` ON `environments` (`project_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`name` text NOT NULL,
	`display_name` text NOT NULL,
	`avatar` text,
	`profile` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`record_version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_email` ON `accounts` (`email`);--> statement-breakpoint
CREATE TABLE `memberships` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`account_id` text NOT NULL,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`kind` text DEFAULT 'person' NOT NULL,
	`status` text DEFAULT 'active' NOT NULL,
	`email` text,
	`added_by_key_id` text,
	`added_by_session_id` text,
	`signed_in_at` integer,
	`record_version` integer DEFAULT 1 NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `memberships_organization_email` ON `memberships` (`organization_id`,`email`);--> statement-breakpoint
CREATE UNIQUE INDEX `memberships_organization_account` ON `memberships` (`organization_id`,`account_id`);--> statement-breakpoint
CREATE INDEX `memberships_list` ON `memberships` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `memberships_service_accounts` ON `memberships` (`organization_id`,`created_at`,`id`) WHERE kind = 'service_account';--> statement-breakpoint
CREATE INDEX `memberships_role` ON `memberships` (`organization_id`,`role`);--> statement-breakpoint
CREATE INDEX `memberships_email` ON `memberships` (`email`);--> statement-breakpoint
CREATE INDEX `memberships_added_by` ON `memberships` (`added_by_key_id`) WHERE added_by_key_id is not null;--> statement-breakpoint
CREATE INDEX `memberships_added_by_session` ON `memberships` (`added_by_session_id`) WHERE added_by_session_id is not null;--> statement-breakpoint
CREATE INDEX `memberships_account` ON `memberships` (`account_id`,`role`);--> statement-breakpoint
CREATE TABLE `removed_memberships` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`added_by_key_id` text,
	`added_by_session_id` text,
	`created_at` integer NOT NULL,
	`removed_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `removed_memberships_organization` ON `removed_memberships` (`organization_id`);--> statement-breakpoint
CREATE INDEX `removed_memberships_added_by` ON `removed_memberships` (`added_by_key_id`);--> statement-breakpoint
CREATE INDEX `removed_memberships_added_by_session` ON `removed_memberships` (`added_by_session_id`);--> statement-breakpoint
CREATE TABLE `organizations` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`max_key_age_seconds` integer,
	`delivery_weight` integer DEFAULT 1 NOT NULL,
	`record_version` integer DEFAULT 1 NOT NULL,
	`limits_organization_id` text
);
--> statement-breakpoint
CREATE INDEX `organizations_limits` ON `organizations` (`limits_organization_id`) WHERE limits_organization_id is not null;--> statement-breakpoint
CREATE INDEX `organizations_founded` ON `organizations` (`id`,`limits_organization_id`) WHERE limits_organization_id is not null;--> statement-breakpoint
CREATE TABLE `project_members` (
	`project_id` text NOT NULL,
	`membership_id` text NOT NULL,
	`organization_id` text NOT NULL,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	`project_created_at` integer NOT NULL,
	`record_version` integer DEFAULT 1 NOT NULL,
	PRIMARY KEY(`project_id`, `membership_id`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`membership_id`) REFERENCES `memberships`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `project_members_list` ON `project_members` (`project_id`,`created_at`,`membership_id`);--> statement-breakpoint
CREATE INDEX `project_members_role` ON `project_members` (`project_id`,`role`,`created_at`,`membership_id`);--> statement-breakpoint
CREATE INDEX `project_members_projects` ON `project_members` (`membership_id`,`project_created_at`,`project_id`);--> statement-breakpoint
CREATE TABLE `projects` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`icon` text,
	`repo_id` text,
	`default_environment_id` text NOT NULL,
	`connection_status` text NOT NULL,
	`disconnected_at` integer,
	`disconnected_by` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`record_version` integer DEFAULT 1 NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `projects_name` ON `projects` (`organization_id`,`name`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `projects_list` ON `projects` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `projects_disconnecting` ON `projects` (`id`) WHERE connection_status = 'disconnecting';--> statement-breakpoint
CREATE TABLE `runner_pools` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`max_run_seconds` integer DEFAULT 21600 NOT NULL,
	`record_version` integer DEFAULT 1 NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runner_pools_name` ON `runner_pools` (`organization_id`,`name`);--> statement-breakpoint
CREATE INDEX `runner_pools_list` ON `runner_pools` (`organization_id`,`created_at`,`id`);
--> statement-breakpoint
-- The erasure of an account finds the entries that name it. drizzle-kit cannot generate these expressions.
CREATE INDEX `changelog_entries_account` ON `changelog_entries` (coalesce(`after`, `before`) ->> '$.account_id') WHERE record_type = 'project_member';
--> statement-breakpoint
CREATE INDEX `audit_log_account` ON `audit_log` (coalesce(`changes` ->> '$.after.account_id', `changes` ->> '$.before.account_id')) WHERE target_type = 'member';
--> statement-breakpoint
-- Counts the audit entries of a day, and refuses those beyond the day's limit, except of what ends access.
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
-- Counts the changes of an environment's configuration, so that no statement can leave one out.
CREATE TRIGGER `environments_configuration_version` AFTER UPDATE OF `configuration` ON `environments`
WHEN new.configuration <> old.configuration BEGIN
	UPDATE `environments` SET `configuration_version` = old.configuration_version + 1 WHERE `id` = new.id;
END;
--> statement-breakpoint
-- A row cannot be inserted below a deleted owner that the purge has not removed yet: the row fails as with a missing foreign key.
CREATE TRIGGER `alarms_of_tombstone` BEFORE INSERT ON `alarms`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `stacks` WHERE `id` = new.stack_id) = '1111111111111111111111'
	OR (SELECT `environments`.`organization_id` FROM `stacks` JOIN `environments` ON `environments`.`id` = `stacks`.`environment_id` WHERE `stacks`.`id` = new.stack_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `components_of_tombstone` BEFORE INSERT ON `components`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `deployments_of_tombstone` BEFORE INSERT ON `deployments`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(IGNORE);
END;
--> statement-breakpoint
CREATE TRIGGER `environments_of_tombstone` BEFORE INSERT ON `environments`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `integrations_of_tombstone` BEFORE INSERT ON `integrations`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `project_connections_of_tombstone` BEFORE INSERT ON `project_connections`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `project_members_of_tombstone` BEFORE INSERT ON `project_members`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `recoveries_of_tombstone` BEFORE INSERT ON `recoveries`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `integrations` WHERE `id` = new.integration_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `runner_pool_environments_of_tombstone` BEFORE INSERT ON `runner_pool_environments`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111'
	OR (SELECT `projects`.`organization_id` FROM `environments` JOIN `projects` ON `projects`.`id` = `environments`.`project_id` WHERE `environments`.`id` = new.environment_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `stacks_of_deleted_component` BEFORE UPDATE OF `component_id` ON `stacks`
WHEN (SELECT `organization_id` FROM `components` WHERE `id` = new.component_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `stacks_of_tombstone` BEFORE INSERT ON `stacks`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `components` WHERE `id` = new.component_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `variables_of_tombstone` BEFORE INSERT ON `variables`
WHEN new.organization_id <> '1111111111111111111111' AND ((SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111'
	OR (SELECT `organization_id` FROM `components` WHERE `id` = new.component_id) = '1111111111111111111111') BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
-- Counts the deployments that end, by day and environment, so that no way to end one can leave it out.
CREATE TRIGGER `deployment_days_of_deployment` AFTER UPDATE OF `status` ON `deployments`
WHEN old.status IN ('queued', 'in_progress', 'canceling') AND new.status NOT IN ('queued', 'in_progress', 'canceling') BEGIN
	INSERT INTO `deployment_days` (`id`, `organization_id`, `project_id`, `environment_id`, `day`, `succeeded`, `failed`, `canceled`,
		`superseded`, `queued`, `run`, `recoveries`, `recovery_ms`, `failing_since`)
	SELECT new.id, new.organization_id, new.project_id, new.environment_id, ended.at / 86400000,
		new.status = 'succeeded', new.status = 'failed', new.status = 'canceled', new.status = 'superseded',
		iif(new.started_at IS NULL, '{}', json_object(CAST(iif(new.started_at - new.created_at < 1000, 0, min(63, 1 + CAST(3 * log2((new.started_at - new.created_at) / 1000.0) AS INTEGER))) AS TEXT), 1)),
		iif(new.started_at IS NULL, '{}', json_object(CAST(iif(ended.at - new.started_at < 1000, 0, min(63, 1 + CAST(3 * log2((ended.at - new.started_at) / 1000.0) AS INTEGER))) AS TEXT), 1)),
		new.status = 'succeeded' AND ended.failing_since IS NOT NULL,
		iif(new.status = 'succeeded', max(0, coalesce(ended.at - ended.failing_since, 0)), 0),
		CASE new.status WHEN 'succeeded' THEN NULL WHEN 'failed' THEN coalesce(ended.failing_since, ended.at) ELSE ended.failing_since END
	FROM (SELECT coalesce(new.finished_at, new.updated_at) AS at, (SELECT `failing_since` FROM `deployment_days`
		WHERE `environment_id` = new.environment_id ORDER BY `day` DESC LIMIT 1) AS failing_since) AS ended
	WHERE true
	ON CONFLICT (`environment_id`, `day`) DO UPDATE SET
		`succeeded` = `succeeded` + excluded.succeeded, `failed` = `failed` + excluded.failed,
		`canceled` = `canceled` + excluded.canceled, `superseded` = `superseded` + excluded.superseded,
		`queued` = iif(new.started_at IS NULL, `queued`, (SELECT json_set(`queued`, item.fullkey, coalesce(`queued` ->> item.fullkey, 0) + 1)
			FROM json_each(excluded.queued) AS item)),
		`run` = iif(new.started_at IS NULL, `run`, (SELECT json_set(`run`, item.fullkey, coalesce(`run` ->> item.fullkey, 0) + 1)
			FROM json_each(excluded.run) AS item)),
		`recoveries` = `recoveries` + excluded.recoveries, `recovery_ms` = `recovery_ms` + excluded.recovery_ms,
		`failing_since` = excluded.failing_since;
END;
--> statement-breakpoint
-- Evicts the oldest idempotency entries of a credential beyond its share, and refuses those beyond the organization's.
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
-- Queued deployments are evaluated again when rules change or a freeze begins.
CREATE TRIGGER `deployment_approvals_content` AFTER UPDATE OF `status` ON `deployments` WHEN old.status = 'queued' AND new.status <> 'queued' BEGIN
	UPDATE `deployment_approvals` SET `content` = '' WHERE `deployment_id` = new.id AND `content` <> '';
END;
--> statement-breakpoint
CREATE TRIGGER `environment_protections_insert` AFTER INSERT ON `environment_protections` BEGIN
	UPDATE `deployments` SET `held_until` = NULL WHERE `environment_id` = new.environment_id AND `status` = 'queued';
END;
--> statement-breakpoint
CREATE TRIGGER `environment_protections_update` AFTER UPDATE OF `rules` ON `environment_protections` WHEN new.rules <> old.rules BEGIN
	UPDATE `deployments` SET `held_until` = NULL, `kept_rules` = CASE
		WHEN old.rules = '{}' OR EXISTS (SELECT 1 FROM json_each(`kept_rules`) AS kept WHERE kept.value = old.rules) THEN `kept_rules`
		ELSE json_insert(`kept_rules`, '$[#]', json(old.rules)) END
	WHERE `environment_id` = new.environment_id AND `status` = 'queued';
END;
--> statement-breakpoint
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
--> statement-breakpoint
-- Notes when Slack was last sent to, because Slack limits how often.
CREATE TRIGGER `deliveries_throttle_slack` AFTER UPDATE OF `attempts` ON `deliveries`
WHEN new.attempts > old.attempts BEGIN
	UPDATE `integrations` SET `last_sent_at` = new.updated_at WHERE `id` = new.integration_id AND `type` = 'slack';
END;
--> statement-breakpoint
-- Counts the bytes of a deployment's stack reasons, so that a page is cut before any stack is read.
CREATE TRIGGER `deployment_stacks_reason_changed` AFTER UPDATE OF `status_reason` ON `deployment_stacks`
WHEN new.status_reason IS NOT old.status_reason BEGIN
	UPDATE `deployments` SET `reason_bytes` = `reason_bytes`
		+ iif(new.status_reason IS NULL, 0, octet_length(json_quote(new.status_reason)) + 17)
		- iif(old.status_reason IS NULL, 0, octet_length(json_quote(old.status_reason)) + 17)
	WHERE `id` = new.deployment_id;
END;
--> statement-breakpoint
CREATE TRIGGER `deployment_stacks_reason_inserted` AFTER INSERT ON `deployment_stacks`
WHEN new.status_reason IS NOT NULL BEGIN
	UPDATE `deployments` SET `reason_bytes` = (
		SELECT sum(octet_length(json_quote(status_reason)) + 17) FROM `deployment_stacks`
		WHERE deployment_id = new.deployment_id AND status_reason IS NOT NULL)
	WHERE `id` = new.deployment_id;
END;
--> statement-breakpoint
-- Counts the records and bytes of an organization (scripts/lib/usage-triggers.ts).
CREATE TRIGGER `usage_memberships_insert` AFTER INSERT ON `memberships` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'members', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.account_id) + octet_length(new.role) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.kind) + octet_length(new.status) + coalesce(octet_length(new.email), 0) + coalesce(octet_length(new.added_by_key_id), 0) + coalesce(octet_length(new.added_by_session_id), 0) + coalesce(octet_length(new.signed_in_at), 0) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_memberships_delete` AFTER DELETE ON `memberships` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.account_id) + octet_length(old.role) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.kind) + octet_length(old.status) + coalesce(octet_length(old.email), 0) + coalesce(octet_length(old.added_by_key_id), 0) + coalesce(octet_length(old.added_by_session_id), 0) + coalesce(octet_length(old.signed_in_at), 0) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'members';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_memberships_update` AFTER UPDATE OF `account_id`, `role`, `created_at`, `updated_at`, `kind`, `status`, `email`, `added_by_key_id`, `added_by_session_id`, `signed_in_at`, `record_version` ON `memberships`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.account_id) + octet_length(new.role) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.kind) + octet_length(new.status) + coalesce(octet_length(new.email), 0) + coalesce(octet_length(new.added_by_key_id), 0) + coalesce(octet_length(new.added_by_session_id), 0) + coalesce(octet_length(new.signed_in_at), 0) + octet_length(new.record_version)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.account_id) + octet_length(old.role) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.kind) + octet_length(old.status) + coalesce(octet_length(old.email), 0) + coalesce(octet_length(old.added_by_key_id), 0) + coalesce(octet_length(old.added_by_session_id), 0) + coalesce(octet_length(old.signed_in_at), 0) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.account_id) + octet_length(new.role) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.kind) + octet_length(new.status) + coalesce(octet_length(new.email), 0) + coalesce(octet_length(new.added_by_key_id), 0) + coalesce(octet_length(new.added_by_session_id), 0) + coalesce(octet_length(new.signed_in_at), 0) + octet_length(new.record_version)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.account_id) + octet_length(old.role) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.kind) + octet_length(old.status) + coalesce(octet_length(old.email), 0) + coalesce(octet_length(old.added_by_key_id), 0) + coalesce(octet_length(old.added_by_session_id), 0) + coalesce(octet_length(old.signed_in_at), 0) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'members';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_removed_memberships_insert` AFTER INSERT ON `removed_memberships` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + coalesce(octet_length(new.added_by_key_id), 0) + coalesce(octet_length(new.added_by_session_id), 0) + octet_length(new.created_at) + octet_length(new.removed_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_removed_memberships_delete` AFTER DELETE ON `removed_memberships` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + coalesce(octet_length(old.added_by_key_id), 0) + coalesce(octet_length(old.added_by_session_id), 0) + octet_length(old.created_at) + octet_length(old.removed_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_removed_memberships_update` AFTER UPDATE OF `added_by_key_id`, `added_by_session_id`, `created_at`, `removed_at` ON `removed_memberships`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + coalesce(octet_length(new.added_by_key_id), 0) + coalesce(octet_length(new.added_by_session_id), 0) + octet_length(new.created_at) + octet_length(new.removed_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + coalesce(octet_length(old.added_by_key_id), 0) + coalesce(octet_length(old.added_by_session_id), 0) + octet_length(old.created_at) + octet_length(old.removed_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + coalesce(octet_length(new.added_by_key_id), 0) + coalesce(octet_length(new.added_by_session_id), 0) + octet_length(new.created_at) + octet_length(new.removed_at)) - (octet_length(old.id) + octet_length(old.organization_id) + coalesce(octet_length(old.added_by_key_id), 0) + coalesce(octet_length(old.added_by_session_id), 0) + octet_length(old.created_at) + octet_length(old.removed_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_invitations_insert` AFTER INSERT ON `invitations` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.email) + coalesce(octet_length(new.name), 0) + octet_length(new.role) + octet_length(new.secret_hash) + octet_length(new.created_by_key_id) + octet_length(new.created_by_membership_id) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.expires_at) + octet_length(new.created_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_invitations_delete` AFTER DELETE ON `invitations` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.email) + coalesce(octet_length(old.name), 0) + octet_length(old.role) + octet_length(old.secret_hash) + octet_length(old.created_by_key_id) + octet_length(old.created_by_membership_id) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.expires_at) + octet_length(old.created_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_invitations_update` AFTER UPDATE OF `email`, `name`, `role`, `secret_hash`, `created_by_key_id`, `created_by_membership_id`, `created_by_session_id`, `expires_at`, `created_at` ON `invitations`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.email) + coalesce(octet_length(new.name), 0) + octet_length(new.role) + octet_length(new.secret_hash) + octet_length(new.created_by_key_id) + octet_length(new.created_by_membership_id) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.expires_at) + octet_length(new.created_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.email) + coalesce(octet_length(old.name), 0) + octet_length(old.role) + octet_length(old.secret_hash) + octet_length(old.created_by_key_id) + octet_length(old.created_by_membership_id) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.expires_at) + octet_length(old.created_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.email) + coalesce(octet_length(new.name), 0) + octet_length(new.role) + octet_length(new.secret_hash) + octet_length(new.created_by_key_id) + octet_length(new.created_by_membership_id) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.expires_at) + octet_length(new.created_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.email) + coalesce(octet_length(old.name), 0) + octet_length(old.role) + octet_length(old.secret_hash) + octet_length(old.created_by_key_id) + octet_length(old.created_by_membership_id) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.expires_at) + octet_length(old.created_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_insert` AFTER INSERT ON `api_keys` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'api_keys', iif(new.session_id IS NULL AND new.trust_id IS NULL, 1, 0), octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.name) + octet_length(new.role) + octet_length(new.secret_hash) + octet_length(new.last_four) + octet_length(new.version) + coalesce(octet_length(new.expires_at), 0) + octet_length(new.created_at) + coalesce(octet_length(new.scopes), 0) + coalesce(octet_length(new.project_ids), 0) + coalesce(octet_length(new.environment_ids), 0) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.replaced_by_key_id), 0) + coalesce(octet_length(new.trust_id), 0) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.session_id), 0) + octet_length(new.is_own) + octet_length(new.expires_by_policy) + octet_length(new.record_version) + 13)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_delete` AFTER DELETE ON `api_keys` BEGIN
	UPDATE `usage` SET `records` = `records` - iif(old.session_id IS NULL AND old.trust_id IS NULL, 1, 0), `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.name) + octet_length(old.role) + octet_length(old.secret_hash) + octet_length(old.last_four) + octet_length(old.version) + coalesce(octet_length(old.expires_at), 0) + octet_length(old.created_at) + coalesce(octet_length(old.scopes), 0) + coalesce(octet_length(old.project_ids), 0) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.replaced_by_key_id), 0) + coalesce(octet_length(old.trust_id), 0) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.session_id), 0) + octet_length(old.is_own) + octet_length(old.expires_by_policy) + octet_length(old.record_version) + 13)
	WHERE `organization_id` = old.organization_id AND `kind` = 'api_keys';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_update` AFTER UPDATE OF `membership_id`, `name`, `role`, `secret_hash`, `last_four`, `version`, `expires_at`, `created_at`, `scopes`, `project_ids`, `environment_ids`, `created_by_key_id`, `created_by_membership_id`, `issued_by_key_id`, `created_by_session_id`, `rotated_by_key_id`, `replaced_by_key_id`, `trust_id`, `claims`, `session_id`, `is_own`, `expires_by_policy`, `record_version` ON `api_keys`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.name) + octet_length(new.role) + octet_length(new.secret_hash) + octet_length(new.last_four) + octet_length(new.version) + coalesce(octet_length(new.expires_at), 0) + octet_length(new.created_at) + coalesce(octet_length(new.scopes), 0) + coalesce(octet_length(new.project_ids), 0) + coalesce(octet_length(new.environment_ids), 0) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.replaced_by_key_id), 0) + coalesce(octet_length(new.trust_id), 0) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.session_id), 0) + octet_length(new.is_own) + octet_length(new.expires_by_policy) + octet_length(new.record_version) + 13) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.name) + octet_length(old.role) + octet_length(old.secret_hash) + octet_length(old.last_four) + octet_length(old.version) + coalesce(octet_length(old.expires_at), 0) + octet_length(old.created_at) + coalesce(octet_length(old.scopes), 0) + coalesce(octet_length(old.project_ids), 0) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.replaced_by_key_id), 0) + coalesce(octet_length(old.trust_id), 0) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.session_id), 0) + octet_length(old.is_own) + octet_length(old.expires_by_policy) + octet_length(old.record_version) + 13) BEGIN
	UPDATE `usage` SET `records` = `records` + (iif(new.session_id IS NULL AND new.trust_id IS NULL, 1, 0)) - (iif(old.session_id IS NULL AND old.trust_id IS NULL, 1, 0)), `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.name) + octet_length(new.role) + octet_length(new.secret_hash) + octet_length(new.last_four) + octet_length(new.version) + coalesce(octet_length(new.expires_at), 0) + octet_length(new.created_at) + coalesce(octet_length(new.scopes), 0) + coalesce(octet_length(new.project_ids), 0) + coalesce(octet_length(new.environment_ids), 0) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.replaced_by_key_id), 0) + coalesce(octet_length(new.trust_id), 0) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.session_id), 0) + octet_length(new.is_own) + octet_length(new.expires_by_policy) + octet_length(new.record_version) + 13) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.name) + octet_length(old.role) + octet_length(old.secret_hash) + octet_length(old.last_four) + octet_length(old.version) + coalesce(octet_length(old.expires_at), 0) + octet_length(old.created_at) + coalesce(octet_length(old.scopes), 0) + coalesce(octet_length(old.project_ids), 0) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.replaced_by_key_id), 0) + coalesce(octet_length(old.trust_id), 0) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.session_id), 0) + octet_length(old.is_own) + octet_length(old.expires_by_policy) + octet_length(old.record_version) + 13)
	WHERE `organization_id` = new.organization_id AND `kind` = 'api_keys';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_revoked_keys_insert` AFTER INSERT ON `revoked_keys` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.name) + octet_length(new.role) + octet_length(new.last_four) + octet_length(new.created_at) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.replaced_by_key_id), 0) + octet_length(new.revoked_at) + coalesce(octet_length(new.revoked_by_key_id), 0) + coalesce(octet_length(new.revoked_by_membership_id), 0))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_revoked_keys_delete` AFTER DELETE ON `revoked_keys` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.name) + octet_length(old.role) + octet_length(old.last_four) + octet_length(old.created_at) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.replaced_by_key_id), 0) + octet_length(old.revoked_at) + coalesce(octet_length(old.revoked_by_key_id), 0) + coalesce(octet_length(old.revoked_by_membership_id), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_revoked_keys_update` AFTER UPDATE OF `membership_id`, `name`, `role`, `last_four`, `created_at`, `created_by_key_id`, `created_by_membership_id`, `issued_by_key_id`, `created_by_session_id`, `rotated_by_key_id`, `replaced_by_key_id`, `revoked_at`, `revoked_by_key_id`, `revoked_by_membership_id` ON `revoked_keys`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.name) + octet_length(new.role) + octet_length(new.last_four) + octet_length(new.created_at) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.replaced_by_key_id), 0) + octet_length(new.revoked_at) + coalesce(octet_length(new.revoked_by_key_id), 0) + coalesce(octet_length(new.revoked_by_membership_id), 0)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.name) + octet_length(old.role) + octet_length(old.last_four) + octet_length(old.created_at) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.replaced_by_key_id), 0) + octet_length(old.revoked_at) + coalesce(octet_length(old.revoked_by_key_id), 0) + coalesce(octet_length(old.revoked_by_membership_id), 0)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.name) + octet_length(new.role) + octet_length(new.last_four) + octet_length(new.created_at) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.replaced_by_key_id), 0) + octet_length(new.revoked_at) + coalesce(octet_length(new.revoked_by_key_id), 0) + coalesce(octet_length(new.revoked_by_membership_id), 0)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.name) + octet_length(old.role) + octet_length(old.last_four) + octet_length(old.created_at) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.replaced_by_key_id), 0) + octet_length(old.revoked_at) + coalesce(octet_length(old.revoked_by_key_id), 0) + coalesce(octet_length(old.revoked_by_membership_id), 0))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_used_sign_ins_insert` AFTER INSERT ON `used_sign_ins` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.expires_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_used_sign_ins_delete` AFTER DELETE ON `used_sign_ins` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.expires_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_used_sign_ins_update` AFTER UPDATE OF `expires_at` ON `used_sign_ins`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.expires_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.expires_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.expires_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.expires_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_sessions_insert` AFTER INSERT ON `sessions` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.source) + coalesce(octet_length(new.key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.secret_hash) + coalesce(octet_length(new.user_agent), 0) + octet_length(new.created_at) + octet_length(new.expires_at) + coalesce(octet_length(new.last_used_at), 0))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_sessions_delete` AFTER DELETE ON `sessions` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.source) + coalesce(octet_length(old.key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.secret_hash) + coalesce(octet_length(old.user_agent), 0) + octet_length(old.created_at) + octet_length(old.expires_at) + coalesce(octet_length(old.last_used_at), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_sessions_update` AFTER UPDATE OF `membership_id`, `source`, `key_id`, `created_by_session_id`, `secret_hash`, `user_agent`, `created_at`, `expires_at`, `last_used_at` ON `sessions`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.source) + coalesce(octet_length(new.key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.secret_hash) + coalesce(octet_length(new.user_agent), 0) + octet_length(new.created_at) + octet_length(new.expires_at) + coalesce(octet_length(new.last_used_at), 0)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.source) + coalesce(octet_length(old.key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.secret_hash) + coalesce(octet_length(old.user_agent), 0) + octet_length(old.created_at) + octet_length(old.expires_at) + coalesce(octet_length(old.last_used_at), 0)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.source) + coalesce(octet_length(new.key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.secret_hash) + coalesce(octet_length(new.user_agent), 0) + octet_length(new.created_at) + octet_length(new.expires_at) + coalesce(octet_length(new.last_used_at), 0)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.source) + coalesce(octet_length(old.key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.secret_hash) + coalesce(octet_length(old.user_agent), 0) + octet_length(old.created_at) + octet_length(old.expires_at) + coalesce(octet_length(old.last_used_at), 0))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_sign_in_links_insert` AFTER INSERT ON `sign_in_links` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.key_id) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.session_expires_at), 0) + octet_length(new.secret_hash) + octet_length(new.created_at) + octet_length(new.expires_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_sign_in_links_delete` AFTER DELETE ON `sign_in_links` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.key_id) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.session_expires_at), 0) + octet_length(old.secret_hash) + octet_length(old.created_at) + octet_length(old.expires_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_sign_in_links_update` AFTER UPDATE OF `membership_id`, `key_id`, `created_by_session_id`, `session_expires_at`, `secret_hash`, `created_at`, `expires_at` ON `sign_in_links`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.key_id) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.session_expires_at), 0) + octet_length(new.secret_hash) + octet_length(new.created_at) + octet_length(new.expires_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.key_id) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.session_expires_at), 0) + octet_length(old.secret_hash) + octet_length(old.created_at) + octet_length(old.expires_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.key_id) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.session_expires_at), 0) + octet_length(new.secret_hash) + octet_length(new.created_at) + octet_length(new.expires_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.key_id) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.session_expires_at), 0) + octet_length(old.secret_hash) + octet_length(old.created_at) + octet_length(old.expires_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_ended_sessions_insert` AFTER INSERT ON `ended_sessions` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.source) + coalesce(octet_length(new.key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.created_at) + octet_length(new.ended_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_ended_sessions_delete` AFTER DELETE ON `ended_sessions` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.source) + coalesce(octet_length(old.key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.created_at) + octet_length(old.ended_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_ended_sessions_update` AFTER UPDATE OF `membership_id`, `source`, `key_id`, `created_by_session_id`, `created_at`, `ended_at` ON `ended_sessions`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.source) + coalesce(octet_length(new.key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.created_at) + octet_length(new.ended_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.source) + coalesce(octet_length(old.key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.created_at) + octet_length(old.ended_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.source) + coalesce(octet_length(new.key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.created_at) + octet_length(new.ended_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.source) + coalesce(octet_length(old.key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.created_at) + octet_length(old.ended_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_pools_insert` AFTER INSERT ON `runner_pools` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'runner_pools', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.max_run_seconds) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_pools_delete` AFTER DELETE ON `runner_pools` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.max_run_seconds) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'runner_pools';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_pools_update` AFTER UPDATE OF `name`, `created_at`, `updated_at`, `max_run_seconds`, `record_version` ON `runner_pools`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.max_run_seconds) + octet_length(new.record_version)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.max_run_seconds) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.max_run_seconds) + octet_length(new.record_version)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.max_run_seconds) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'runner_pools';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_pool_environments_insert` AFTER INSERT ON `runner_pool_environments` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.pool_id) + octet_length(new.environment_id) + octet_length(new.organization_id))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_pool_environments_delete` AFTER DELETE ON `runner_pool_environments` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.pool_id) + octet_length(old.environment_id) + octet_length(old.organization_id))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_pool_environments_update` AFTER UPDATE OF `pool_id`, `environment_id` ON `runner_pool_environments`
WHEN (octet_length(new.pool_id) + octet_length(new.environment_id) + octet_length(new.organization_id)) <> (octet_length(old.pool_id) + octet_length(old.environment_id) + octet_length(old.organization_id)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.pool_id) + octet_length(new.environment_id) + octet_length(new.organization_id)) - (octet_length(old.pool_id) + octet_length(old.environment_id) + octet_length(old.organization_id))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runners_insert` AFTER INSERT ON `runners` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.pool_id) + octet_length(new.token_id) + octet_length(new.name) + coalesce(octet_length(new.version), 0) + coalesce(octet_length(new.wanted_id), 0) + octet_length(new.created_at) + 13)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runners_delete` AFTER DELETE ON `runners` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.pool_id) + octet_length(old.token_id) + octet_length(old.name) + coalesce(octet_length(old.version), 0) + coalesce(octet_length(old.wanted_id), 0) + octet_length(old.created_at) + 13)
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runners_update` AFTER UPDATE OF `pool_id`, `token_id`, `name`, `version`, `wanted_id`, `created_at` ON `runners`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.pool_id) + octet_length(new.token_id) + octet_length(new.name) + coalesce(octet_length(new.version), 0) + coalesce(octet_length(new.wanted_id), 0) + octet_length(new.created_at) + 13) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.pool_id) + octet_length(old.token_id) + octet_length(old.name) + coalesce(octet_length(old.version), 0) + coalesce(octet_length(old.wanted_id), 0) + octet_length(old.created_at) + 13) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.pool_id) + octet_length(new.token_id) + octet_length(new.name) + coalesce(octet_length(new.version), 0) + coalesce(octet_length(new.wanted_id), 0) + octet_length(new.created_at) + 13) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.pool_id) + octet_length(old.token_id) + octet_length(old.name) + coalesce(octet_length(old.version), 0) + coalesce(octet_length(old.wanted_id), 0) + octet_length(old.created_at) + 13)
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_tokens_insert` AFTER INSERT ON `runner_tokens` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'runner_tokens', iif(new.trust_id IS NULL, 1, 0), octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.pool_id) + octet_length(new.name) + octet_length(new.secret_hash) + octet_length(new.last_four) + octet_length(new.version) + octet_length(new.created_at) + coalesce(octet_length(new.expires_at), 0) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.trust_id), 0) + 13)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_tokens_delete` AFTER DELETE ON `runner_tokens` BEGIN
	UPDATE `usage` SET `records` = `records` - iif(old.trust_id IS NULL, 1, 0), `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.pool_id) + octet_length(old.name) + octet_length(old.secret_hash) + octet_length(old.last_four) + octet_length(old.version) + octet_length(old.created_at) + coalesce(octet_length(old.expires_at), 0) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.trust_id), 0) + 13)
	WHERE `organization_id` = old.organization_id AND `kind` = 'runner_tokens';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_tokens_update` AFTER UPDATE OF `pool_id`, `name`, `secret_hash`, `last_four`, `version`, `created_at`, `expires_at`, `created_by_key_id`, `created_by_membership_id`, `issued_by_key_id`, `created_by_session_id`, `rotated_by_key_id`, `trust_id` ON `runner_tokens`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.pool_id) + octet_length(new.name) + octet_length(new.secret_hash) + octet_length(new.last_four) + octet_length(new.version) + octet_length(new.created_at) + coalesce(octet_length(new.expires_at), 0) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.trust_id), 0) + 13) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.pool_id) + octet_length(old.name) + octet_length(old.secret_hash) + octet_length(old.last_four) + octet_length(old.version) + octet_length(old.created_at) + coalesce(octet_length(old.expires_at), 0) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.trust_id), 0) + 13) BEGIN
	UPDATE `usage` SET `records` = `records` + (iif(new.trust_id IS NULL, 1, 0)) - (iif(old.trust_id IS NULL, 1, 0)), `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.pool_id) + octet_length(new.name) + octet_length(new.secret_hash) + octet_length(new.last_four) + octet_length(new.version) + octet_length(new.created_at) + coalesce(octet_length(new.expires_at), 0) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.trust_id), 0) + 13) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.pool_id) + octet_length(old.name) + octet_length(old.secret_hash) + octet_length(old.last_four) + octet_length(old.version) + octet_length(old.created_at) + coalesce(octet_length(old.expires_at), 0) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.trust_id), 0) + 13)
	WHERE `organization_id` = new.organization_id AND `kind` = 'runner_tokens';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_trusts_insert` AFTER INSERT ON `trusts` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + octet_length(new.issuer) + octet_length(new.audience) + octet_length(new.conditions) + coalesce(octet_length(new.membership_id), 0) + coalesce(octet_length(new.pool_id), 0) + coalesce(octet_length(new.role), 0) + coalesce(octet_length(new.scopes), 0) + coalesce(octet_length(new.project_ids), 0) + coalesce(octet_length(new.environment_ids), 0) + octet_length(new.ttl_seconds) + octet_length(new.created_by_key_id) + octet_length(new.created_by_membership_id) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.created_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_trusts_delete` AFTER DELETE ON `trusts` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + octet_length(old.issuer) + octet_length(old.audience) + octet_length(old.conditions) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.pool_id), 0) + coalesce(octet_length(old.role), 0) + coalesce(octet_length(old.scopes), 0) + coalesce(octet_length(old.project_ids), 0) + coalesce(octet_length(old.environment_ids), 0) + octet_length(old.ttl_seconds) + octet_length(old.created_by_key_id) + octet_length(old.created_by_membership_id) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.created_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_trusts_update` AFTER UPDATE OF `name`, `issuer`, `audience`, `conditions`, `membership_id`, `pool_id`, `role`, `scopes`, `project_ids`, `environment_ids`, `ttl_seconds`, `created_by_key_id`, `created_by_membership_id`, `issued_by_key_id`, `created_by_session_id`, `created_at` ON `trusts`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + octet_length(new.issuer) + octet_length(new.audience) + octet_length(new.conditions) + coalesce(octet_length(new.membership_id), 0) + coalesce(octet_length(new.pool_id), 0) + coalesce(octet_length(new.role), 0) + coalesce(octet_length(new.scopes), 0) + coalesce(octet_length(new.project_ids), 0) + coalesce(octet_length(new.environment_ids), 0) + octet_length(new.ttl_seconds) + octet_length(new.created_by_key_id) + octet_length(new.created_by_membership_id) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.created_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + octet_length(old.issuer) + octet_length(old.audience) + octet_length(old.conditions) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.pool_id), 0) + coalesce(octet_length(old.role), 0) + coalesce(octet_length(old.scopes), 0) + coalesce(octet_length(old.project_ids), 0) + coalesce(octet_length(old.environment_ids), 0) + octet_length(old.ttl_seconds) + octet_length(old.created_by_key_id) + octet_length(old.created_by_membership_id) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.created_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + octet_length(new.issuer) + octet_length(new.audience) + octet_length(new.conditions) + coalesce(octet_length(new.membership_id), 0) + coalesce(octet_length(new.pool_id), 0) + coalesce(octet_length(new.role), 0) + coalesce(octet_length(new.scopes), 0) + coalesce(octet_length(new.project_ids), 0) + coalesce(octet_length(new.environment_ids), 0) + octet_length(new.ttl_seconds) + octet_length(new.created_by_key_id) + octet_length(new.created_by_membership_id) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.created_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + octet_length(old.issuer) + octet_length(old.audience) + octet_length(old.conditions) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.pool_id), 0) + coalesce(octet_length(old.role), 0) + coalesce(octet_length(old.scopes), 0) + coalesce(octet_length(old.project_ids), 0) + coalesce(octet_length(old.environment_ids), 0) + octet_length(old.ttl_seconds) + octet_length(old.created_by_key_id) + octet_length(old.created_by_membership_id) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.created_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_used_tokens_insert` AFTER INSERT ON `used_tokens` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.expires_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_used_tokens_delete` AFTER DELETE ON `used_tokens` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.expires_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_used_tokens_update` AFTER UPDATE OF `expires_at` ON `used_tokens`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.expires_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.expires_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.expires_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.expires_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_projects_insert` AFTER INSERT ON `projects` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'projects', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + coalesce(octet_length(new.description), 0) + coalesce(octet_length(new.icon), 0) + coalesce(octet_length(new.repo_id), 0) + octet_length(new.default_environment_id) + octet_length(new.connection_status) + coalesce(octet_length(new.disconnected_at), 0) + coalesce(octet_length(new.disconnected_by), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_projects_delete` AFTER DELETE ON `projects` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + coalesce(octet_length(old.description), 0) + coalesce(octet_length(old.icon), 0) + coalesce(octet_length(old.repo_id), 0) + octet_length(old.default_environment_id) + octet_length(old.connection_status) + coalesce(octet_length(old.disconnected_at), 0) + coalesce(octet_length(old.disconnected_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'projects';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_projects_update` AFTER UPDATE OF `name`, `description`, `icon`, `repo_id`, `default_environment_id`, `connection_status`, `disconnected_at`, `disconnected_by`, `created_at`, `updated_at`, `record_version` ON `projects`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + coalesce(octet_length(new.description), 0) + coalesce(octet_length(new.icon), 0) + coalesce(octet_length(new.repo_id), 0) + octet_length(new.default_environment_id) + octet_length(new.connection_status) + coalesce(octet_length(new.disconnected_at), 0) + coalesce(octet_length(new.disconnected_by), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + coalesce(octet_length(old.description), 0) + coalesce(octet_length(old.icon), 0) + coalesce(octet_length(old.repo_id), 0) + octet_length(old.default_environment_id) + octet_length(old.connection_status) + coalesce(octet_length(old.disconnected_at), 0) + coalesce(octet_length(old.disconnected_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + coalesce(octet_length(new.description), 0) + coalesce(octet_length(new.icon), 0) + coalesce(octet_length(new.repo_id), 0) + octet_length(new.default_environment_id) + octet_length(new.connection_status) + coalesce(octet_length(new.disconnected_at), 0) + coalesce(octet_length(new.disconnected_by), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + coalesce(octet_length(old.description), 0) + coalesce(octet_length(old.icon), 0) + coalesce(octet_length(old.repo_id), 0) + octet_length(old.default_environment_id) + octet_length(old.connection_status) + coalesce(octet_length(old.disconnected_at), 0) + coalesce(octet_length(old.disconnected_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'projects';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_projects_tombstone` AFTER UPDATE OF `organization_id` ON `projects` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + coalesce(octet_length(old.description), 0) + coalesce(octet_length(old.icon), 0) + coalesce(octet_length(old.repo_id), 0) + octet_length(old.default_environment_id) + octet_length(old.connection_status) + coalesce(octet_length(old.disconnected_at), 0) + coalesce(octet_length(old.disconnected_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'projects';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_project_connections_insert` AFTER INSERT ON `project_connections` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.project_id) + octet_length(new.organization_id) + octet_length(new.provider) + octet_length(new.account_id) + octet_length(new.region) + coalesce(octet_length(new.role_arn), 0) + coalesce(octet_length(new.external_id), 0) + coalesce(octet_length(new.settings), 0) + octet_length(new.created_at) + octet_length(new.updated_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_project_connections_delete` AFTER DELETE ON `project_connections` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.project_id) + octet_length(old.organization_id) + octet_length(old.provider) + octet_length(old.account_id) + octet_length(old.region) + coalesce(octet_length(old.role_arn), 0) + coalesce(octet_length(old.external_id), 0) + coalesce(octet_length(old.settings), 0) + octet_length(old.created_at) + octet_length(old.updated_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_project_connections_update` AFTER UPDATE OF `project_id`, `provider`, `account_id`, `region`, `role_arn`, `external_id`, `settings`, `created_at`, `updated_at` ON `project_connections`
WHEN (octet_length(new.project_id) + octet_length(new.organization_id) + octet_length(new.provider) + octet_length(new.account_id) + octet_length(new.region) + coalesce(octet_length(new.role_arn), 0) + coalesce(octet_length(new.external_id), 0) + coalesce(octet_length(new.settings), 0) + octet_length(new.created_at) + octet_length(new.updated_at)) <> (octet_length(old.project_id) + octet_length(old.organization_id) + octet_length(old.provider) + octet_length(old.account_id) + octet_length(old.region) + coalesce(octet_length(old.role_arn), 0) + coalesce(octet_length(old.external_id), 0) + coalesce(octet_length(old.settings), 0) + octet_length(old.created_at) + octet_length(old.updated_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.project_id) + octet_length(new.organization_id) + octet_length(new.provider) + octet_length(new.account_id) + octet_length(new.region) + coalesce(octet_length(new.role_arn), 0) + coalesce(octet_length(new.external_id), 0) + coalesce(octet_length(new.settings), 0) + octet_length(new.created_at) + octet_length(new.updated_at)) - (octet_length(old.project_id) + octet_length(old.organization_id) + octet_length(old.provider) + octet_length(old.account_id) + octet_length(old.region) + coalesce(octet_length(old.role_arn), 0) + coalesce(octet_length(old.external_id), 0) + coalesce(octet_length(old.settings), 0) + octet_length(old.created_at) + octet_length(old.updated_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_deployment_days_insert` AFTER INSERT ON `deployment_days` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.day) + 437)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_deployment_days_delete` AFTER DELETE ON `deployment_days` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.day) + 437)
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_deployment_days_update` AFTER UPDATE OF `project_id`, `environment_id`, `day` ON `deployment_days`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.day) + 437) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.day) + 437) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.day) + 437) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.day) + 437)
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_project_members_insert` AFTER INSERT ON `project_members` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'project_members', 1, octet_length(new.project_id) + octet_length(new.membership_id) + octet_length(new.organization_id) + octet_length(new.role) + octet_length(new.created_at) + octet_length(new.project_created_at) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_project_members_delete` AFTER DELETE ON `project_members` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.project_id) + octet_length(old.membership_id) + octet_length(old.organization_id) + octet_length(old.role) + octet_length(old.created_at) + octet_length(old.project_created_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'project_members';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_project_members_update` AFTER UPDATE OF `project_id`, `membership_id`, `role`, `created_at`, `project_created_at`, `record_version` ON `project_members`
WHEN (octet_length(new.project_id) + octet_length(new.membership_id) + octet_length(new.organization_id) + octet_length(new.role) + octet_length(new.created_at) + octet_length(new.project_created_at) + octet_length(new.record_version)) <> (octet_length(old.project_id) + octet_length(old.membership_id) + octet_length(old.organization_id) + octet_length(old.role) + octet_length(old.created_at) + octet_length(old.project_created_at) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.project_id) + octet_length(new.membership_id) + octet_length(new.organization_id) + octet_length(new.role) + octet_length(new.created_at) + octet_length(new.project_created_at) + octet_length(new.record_version)) - (octet_length(old.project_id) + octet_length(old.membership_id) + octet_length(old.organization_id) + octet_length(old.role) + octet_length(old.created_at) + octet_length(old.project_created_at) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'project_members';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_insert` AFTER INSERT ON `environments` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'environments', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.name) + octet_length(new.configuration) + coalesce(octet_length(new.source), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.epoch) + octet_length(new.started_number) + octet_length(new.configuration_version) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_delete` AFTER DELETE ON `environments` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.name) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.epoch) + octet_length(old.started_number) + octet_length(old.configuration_version) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'environments';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_update` AFTER UPDATE OF `project_id`, `name`, `configuration`, `source`, `created_at`, `updated_at`, `epoch`, `started_number`, `configuration_version`, `record_version` ON `environments`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.name) + octet_length(new.configuration) + coalesce(octet_length(new.source), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.epoch) + octet_length(new.started_number) + octet_length(new.configuration_version) + octet_length(new.record_version)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.name) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.epoch) + octet_length(old.started_number) + octet_length(old.configuration_version) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.name) + octet_length(new.configuration) + coalesce(octet_length(new.source), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.epoch) + octet_length(new.started_number) + octet_length(new.configuration_version) + octet_length(new.record_version)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.name) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.epoch) + octet_length(old.started_number) + octet_length(old.configuration_version) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'environments';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_tombstone` AFTER UPDATE OF `organization_id` ON `environments` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.name) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.epoch) + octet_length(old.started_number) + octet_length(old.configuration_version) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'environments';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_environment_protections_insert` AFTER INSERT ON `environment_protections` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.environment_id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.rules) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_environment_protections_delete` AFTER DELETE ON `environment_protections` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.environment_id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.rules) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_environment_protections_update` AFTER UPDATE OF `environment_id`, `project_id`, `rules`, `created_at`, `updated_at`, `record_version` ON `environment_protections`
WHEN (octet_length(new.id) + octet_length(new.environment_id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.rules) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) <> (octet_length(old.id) + octet_length(old.environment_id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.rules) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.environment_id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.rules) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) - (octet_length(old.id) + octet_length(old.environment_id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.rules) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_components_insert` AFTER INSERT ON `components` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'components', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.name) + octet_length(new.kind) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_components_delete` AFTER DELETE ON `components` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.name) + octet_length(old.kind) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'components';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_components_update` AFTER UPDATE OF `project_id`, `environment_id`, `name`, `kind`, `created_at`, `updated_at`, `record_version` ON `components`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.name) + octet_length(new.kind) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.name) + octet_length(old.kind) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.name) + octet_length(new.kind) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.name) + octet_length(old.kind) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'components';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_components_tombstone` AFTER UPDATE OF `organization_id` ON `components` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.name) + octet_length(old.kind) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'components';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_insert` AFTER INSERT ON `stacks` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'stacks', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + coalesce(octet_length(new.component_id), 0) + octet_length(new.name) + octet_length(new.outputs) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version) + 4 + new.resource_bytes)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_delete` AFTER DELETE ON `stacks` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + coalesce(octet_length(old.component_id), 0) + octet_length(old.name) + octet_length(old.outputs) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version) + 4 + old.resource_bytes)
	WHERE `organization_id` = old.organization_id AND `kind` = 'stacks';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_update` AFTER UPDATE OF `project_id`, `environment_id`, `component_id`, `name`, `outputs`, `created_at`, `updated_at`, `record_version`, `resource_bytes` ON `stacks`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + coalesce(octet_length(new.component_id), 0) + octet_length(new.name) + octet_length(new.outputs) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version) + 4 + new.resource_bytes) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + coalesce(octet_length(old.component_id), 0) + octet_length(old.name) + octet_length(old.outputs) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version) + 4 + old.resource_bytes) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + coalesce(octet_length(new.component_id), 0) + octet_length(new.name) + octet_length(new.outputs) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version) + 4 + new.resource_bytes) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + coalesce(octet_length(old.component_id), 0) + octet_length(old.name) + octet_length(old.outputs) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version) + 4 + old.resource_bytes)
	WHERE `organization_id` = new.organization_id AND `kind` = 'stacks';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_tombstone` AFTER UPDATE OF `organization_id` ON `stacks` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + coalesce(octet_length(old.component_id), 0) + octet_length(old.name) + octet_length(old.outputs) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version) + 4 + old.resource_bytes)
	WHERE `organization_id` = old.organization_id AND `kind` = 'stacks';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_alarms_insert` AFTER INSERT ON `alarms` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'alarms', 1, octet_length(new.id) + octet_length(new.stack_id) + octet_length(new.environment_id) + octet_length(new.source) + octet_length(new.name) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.state) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.changed_at) + octet_length(new.updated_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_alarms_delete` AFTER DELETE ON `alarms` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.stack_id) + octet_length(old.environment_id) + octet_length(old.source) + octet_length(old.name) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.state) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.changed_at) + octet_length(old.updated_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'alarms';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_alarms_update` AFTER UPDATE OF `stack_id`, `environment_id`, `source`, `name`, `project_id`, `state`, `reason`, `created_at`, `changed_at`, `updated_at` ON `alarms`
WHEN (octet_length(new.id) + octet_length(new.stack_id) + octet_length(new.environment_id) + octet_length(new.source) + octet_length(new.name) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.state) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.changed_at) + octet_length(new.updated_at)) <> (octet_length(old.id) + octet_length(old.stack_id) + octet_length(old.environment_id) + octet_length(old.source) + octet_length(old.name) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.state) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.changed_at) + octet_length(old.updated_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.stack_id) + octet_length(new.environment_id) + octet_length(new.source) + octet_length(new.name) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.state) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.changed_at) + octet_length(new.updated_at)) - (octet_length(old.id) + octet_length(old.stack_id) + octet_length(old.environment_id) + octet_length(old.source) + octet_length(old.name) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.state) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.changed_at) + octet_length(old.updated_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'alarms';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_variables_insert` AFTER INSERT ON `variables` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'variables', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + coalesce(octet_length(new.component_id), 0) + octet_length(new.scope_id) + octet_length(new.name) + octet_length(new.storage_method) + octet_length(new.resource_id) + octet_length(new.value) + octet_length(new.version) + octet_length(new.created_at) + octet_length(new.updated_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_variables_delete` AFTER DELETE ON `variables` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + coalesce(octet_length(old.component_id), 0) + octet_length(old.scope_id) + octet_length(old.name) + octet_length(old.storage_method) + octet_length(old.resource_id) + octet_length(old.value) + octet_length(old.version) + octet_length(old.created_at) + octet_length(old.updated_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'variables';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_variables_update` AFTER UPDATE OF `project_id`, `environment_id`, `component_id`, `scope_id`, `name`, `storage_method`, `resource_id`, `value`, `version`, `created_at`, `updated_at` ON `variables`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + coalesce(octet_length(new.component_id), 0) + octet_length(new.scope_id) + octet_length(new.name) + octet_length(new.storage_method) + octet_length(new.resource_id) + octet_length(new.value) + octet_length(new.version) + octet_length(new.created_at) + octet_length(new.updated_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + coalesce(octet_length(old.component_id), 0) + octet_length(old.scope_id) + octet_length(old.name) + octet_length(old.storage_method) + octet_length(old.resource_id) + octet_length(old.value) + octet_length(old.version) + octet_length(old.created_at) + octet_length(old.updated_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + coalesce(octet_length(new.component_id), 0) + octet_length(new.scope_id) + octet_length(new.name) + octet_length(new.storage_method) + octet_length(new.resource_id) + octet_length(new.value) + octet_length(new.version) + octet_length(new.created_at) + octet_length(new.updated_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + coalesce(octet_length(old.component_id), 0) + octet_length(old.scope_id) + octet_length(old.name) + octet_length(old.storage_method) + octet_length(old.resource_id) + octet_length(old.value) + octet_length(old.version) + octet_length(old.created_at) + octet_length(old.updated_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'variables';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_deployments_insert` AFTER INSERT ON `deployments` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'deployments', 1, iif(new.configuration = '', 0, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + octet_length(new.trigger) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.configuration_version) + octet_length(new.is_absolute) + octet_length(new.stack_count) + octet_length(new.reason_bytes) + octet_length(new.kept_rules) + octet_length(new.creators) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.exempt), 0) + coalesce(octet_length(new.overridden), 0) + octet_length(new.creator_type) + octet_length(new.creator_membership_id) + coalesce(octet_length(new.creator_trust_id), 0) + coalesce(octet_length(new.copied_id), 0) + 74 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 139 * new.stack_count + 300 * (new.lapsed_offers + new.released_offers + (new.started_at IS NOT NULL)) + octet_length(new.configuration)))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_deployments_delete` AFTER DELETE ON `deployments` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (iif(old.configuration = '', 0, octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + octet_length(old.trigger) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.configuration_version) + octet_length(old.is_absolute) + octet_length(old.stack_count) + octet_length(old.reason_bytes) + octet_length(old.kept_rules) + octet_length(old.creators) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.exempt), 0) + coalesce(octet_length(old.overridden), 0) + octet_length(old.creator_type) + octet_length(old.creator_membership_id) + coalesce(octet_length(old.creator_trust_id), 0) + coalesce(octet_length(old.copied_id), 0) + 74 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 139 * old.stack_count + 300 * (old.lapsed_offers + old.released_offers + (old.started_at IS NOT NULL)) + octet_length(old.configuration)))
	WHERE `organization_id` = old.organization_id AND `kind` = 'deployments';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_deployments_update` AFTER UPDATE OF `project_id`, `environment_id`, `number`, `queue`, `patch`, `configuration`, `source`, `keeps_source`, `trigger`, `reason`, `failure_reason`, `message`, `created_at`, `started_at`, `updated_at`, `configuration_version`, `is_absolute`, `lapsed_offers`, `released_offers`, `stack_count`, `reason_bytes`, `kept_rules`, `creators`, `claims`, `exempt`, `overridden`, `creator_type`, `creator_membership_id`, `creator_trust_id`, `copied_id` ON `deployments`
WHEN (iif(new.configuration = '', 0, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + octet_length(new.trigger) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.configuration_version) + octet_length(new.is_absolute) + octet_length(new.stack_count) + octet_length(new.reason_bytes) + octet_length(new.kept_rules) + octet_length(new.creators) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.exempt), 0) + coalesce(octet_length(new.overridden), 0) + octet_length(new.creator_type) + octet_length(new.creator_membership_id) + coalesce(octet_length(new.creator_trust_id), 0) + coalesce(octet_length(new.copied_id), 0) + 74 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 139 * new.stack_count + 300 * (new.lapsed_offers + new.released_offers + (new.started_at IS NOT NULL)) + octet_length(new.configuration))) <> (iif(old.configuration = '', 0, octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + octet_length(old.trigger) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.configuration_version) + octet_length(old.is_absolute) + octet_length(old.stack_count) + octet_length(old.reason_bytes) + octet_length(old.kept_rules) + octet_length(old.creators) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.exempt), 0) + coalesce(octet_length(old.overridden), 0) + octet_length(old.creator_type) + octet_length(old.creator_membership_id) + coalesce(octet_length(old.creator_trust_id), 0) + coalesce(octet_length(old.copied_id), 0) + 74 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 139 * old.stack_count + 300 * (old.lapsed_offers + old.released_offers + (old.started_at IS NOT NULL)) + octet_length(old.configuration))) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (iif(new.configuration = '', 0, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + octet_length(new.trigger) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.configuration_version) + octet_length(new.is_absolute) + octet_length(new.stack_count) + octet_length(new.reason_bytes) + octet_length(new.kept_rules) + octet_length(new.creators) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.exempt), 0) + coalesce(octet_length(new.overridden), 0) + octet_length(new.creator_type) + octet_length(new.creator_membership_id) + coalesce(octet_length(new.creator_trust_id), 0) + coalesce(octet_length(new.copied_id), 0) + 74 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 139 * new.stack_count + 300 * (new.lapsed_offers + new.released_offers + (new.started_at IS NOT NULL)) + octet_length(new.configuration))) - (iif(old.configuration = '', 0, octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + octet_length(old.trigger) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.configuration_version) + octet_length(old.is_absolute) + octet_length(old.stack_count) + octet_length(old.reason_bytes) + octet_length(old.kept_rules) + octet_length(old.creators) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.exempt), 0) + coalesce(octet_length(old.overridden), 0) + octet_length(old.creator_type) + octet_length(old.creator_membership_id) + coalesce(octet_length(old.creator_trust_id), 0) + coalesce(octet_length(old.copied_id), 0) + 74 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 139 * old.stack_count + 300 * (old.lapsed_offers + old.released_offers + (old.started_at IS NOT NULL)) + octet_length(old.configuration)))
	WHERE `organization_id` = new.organization_id AND `kind` = 'deployments';
END;
--> statement-breakpoint
CREATE TRIGGER `history_deployments_moved` AFTER UPDATE OF `configuration` ON `deployments` WHEN new.configuration = '' AND old.configuration <> '' BEGIN
	INSERT INTO `history_usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'deployments', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + octet_length(new.trigger) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.configuration_version) + octet_length(new.is_absolute) + octet_length(new.stack_count) + octet_length(new.reason_bytes) + octet_length(new.kept_rules) + octet_length(new.creators) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.exempt), 0) + coalesce(octet_length(new.overridden), 0) + octet_length(new.creator_type) + octet_length(new.creator_membership_id) + coalesce(octet_length(new.creator_trust_id), 0) + coalesce(octet_length(new.copied_id), 0) + 74 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 139 * new.stack_count + 300 * (new.lapsed_offers + new.released_offers + (new.started_at IS NOT NULL)))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `history_deployments_insert` AFTER INSERT ON `deployments` WHEN new.configuration = '' BEGIN
	INSERT INTO `history_usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'deployments', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + octet_length(new.trigger) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.configuration_version) + octet_length(new.is_absolute) + octet_length(new.stack_count) + octet_length(new.reason_bytes) + octet_length(new.kept_rules) + octet_length(new.creators) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.exempt), 0) + coalesce(octet_length(new.overridden), 0) + octet_length(new.creator_type) + octet_length(new.creator_membership_id) + coalesce(octet_length(new.creator_trust_id), 0) + coalesce(octet_length(new.copied_id), 0) + 74 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 139 * new.stack_count + 300 * (new.lapsed_offers + new.released_offers + (new.started_at IS NOT NULL)))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `history_deployments_delete` AFTER DELETE ON `deployments` WHEN old.configuration = '' BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + octet_length(old.trigger) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.configuration_version) + octet_length(old.is_absolute) + octet_length(old.stack_count) + octet_length(old.reason_bytes) + octet_length(old.kept_rules) + octet_length(old.creators) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.exempt), 0) + coalesce(octet_length(old.overridden), 0) + octet_length(old.creator_type) + octet_length(old.creator_membership_id) + coalesce(octet_length(old.creator_trust_id), 0) + coalesce(octet_length(old.copied_id), 0) + 74 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 139 * old.stack_count + 300 * (old.lapsed_offers + old.released_offers + (old.started_at IS NOT NULL)))
	WHERE `organization_id` = old.organization_id AND `kind` = 'deployments';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_deployment_approvals_insert` AFTER INSERT ON `deployment_approvals` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.environment_id) + octet_length(new.deployment_id) + octet_length(new.membership_id) + octet_length(new.decision) + coalesce(octet_length(new.comment), 0) + octet_length(new.digest) + octet_length(new.basis) + octet_length(new.content) + octet_length(new.created_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_deployment_approvals_delete` AFTER DELETE ON `deployment_approvals` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.environment_id) + octet_length(old.deployment_id) + octet_length(old.membership_id) + octet_length(old.decision) + coalesce(octet_length(old.comment), 0) + octet_length(old.digest) + octet_length(old.basis) + octet_length(old.content) + octet_length(old.created_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_deployment_approvals_update` AFTER UPDATE OF `environment_id`, `deployment_id`, `membership_id`, `decision`, `comment`, `digest`, `basis`, `content`, `created_at` ON `deployment_approvals`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.environment_id) + octet_length(new.deployment_id) + octet_length(new.membership_id) + octet_length(new.decision) + coalesce(octet_length(new.comment), 0) + octet_length(new.digest) + octet_length(new.basis) + octet_length(new.content) + octet_length(new.created_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.environment_id) + octet_length(old.deployment_id) + octet_length(old.membership_id) + octet_length(old.decision) + coalesce(octet_length(old.comment), 0) + octet_length(old.digest) + octet_length(old.basis) + octet_length(old.content) + octet_length(old.created_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.environment_id) + octet_length(new.deployment_id) + octet_length(new.membership_id) + octet_length(new.decision) + coalesce(octet_length(new.comment), 0) + octet_length(new.digest) + octet_length(new.basis) + octet_length(new.content) + octet_length(new.created_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.environment_id) + octet_length(old.deployment_id) + octet_length(old.membership_id) + octet_length(old.decision) + coalesce(octet_length(old.comment), 0) + octet_length(old.digest) + octet_length(old.basis) + octet_length(old.content) + octet_length(old.created_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_freezes_insert` AFTER INSERT ON `freezes` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + coalesce(octet_length(new.project_id), 0) + coalesce(octet_length(new.environment_ids), 0) + octet_length(new.name) + octet_length(new.reason) + octet_length(new.starts_at) + octet_length(new.ends_at) + octet_length(new.override) + octet_length(new.created_by_membership_id) + octet_length(new.created_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_freezes_delete` AFTER DELETE ON `freezes` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + coalesce(octet_length(old.project_id), 0) + coalesce(octet_length(old.environment_ids), 0) + octet_length(old.name) + octet_length(old.reason) + octet_length(old.starts_at) + octet_length(old.ends_at) + octet_length(old.override) + octet_length(old.created_by_membership_id) + octet_length(old.created_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_freezes_update` AFTER UPDATE OF `project_id`, `environment_ids`, `name`, `reason`, `starts_at`, `ends_at`, `override`, `created_by_membership_id`, `created_at` ON `freezes`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + coalesce(octet_length(new.project_id), 0) + coalesce(octet_length(new.environment_ids), 0) + octet_length(new.name) + octet_length(new.reason) + octet_length(new.starts_at) + octet_length(new.ends_at) + octet_length(new.override) + octet_length(new.created_by_membership_id) + octet_length(new.created_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + coalesce(octet_length(old.project_id), 0) + coalesce(octet_length(old.environment_ids), 0) + octet_length(old.name) + octet_length(old.reason) + octet_length(old.starts_at) + octet_length(old.ends_at) + octet_length(old.override) + octet_length(old.created_by_membership_id) + octet_length(old.created_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + coalesce(octet_length(new.project_id), 0) + coalesce(octet_length(new.environment_ids), 0) + octet_length(new.name) + octet_length(new.reason) + octet_length(new.starts_at) + octet_length(new.ends_at) + octet_length(new.override) + octet_length(new.created_by_membership_id) + octet_length(new.created_at)) - (octet_length(old.id) + octet_length(old.organization_id) + coalesce(octet_length(old.project_id), 0) + coalesce(octet_length(old.environment_ids), 0) + octet_length(old.name) + octet_length(old.reason) + octet_length(old.starts_at) + octet_length(old.ends_at) + octet_length(old.override) + octet_length(old.created_by_membership_id) + octet_length(old.created_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_integrations_insert` AFTER INSERT ON `integrations` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'integrations', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.type) + octet_length(new.configuration) + octet_length(new.url) + octet_length(new.shown_url) + coalesce(octet_length(new.environment_ids), 0) + coalesce(octet_length(new.stack_ids), 0) + coalesce(octet_length(new.secret), 0) + coalesce(octet_length(new.previous_secret), 0) + coalesce(octet_length(new.previous_secret_until), 0) + coalesce(octet_length(new.disabled_at), 0) + coalesce(octet_length(new.disabled_reason), 0) + coalesce(octet_length(new.failing_since), 0) + coalesce(octet_length(new.paused_until), 0) + coalesce(octet_length(new.failure_notified_at), 0) + coalesce(octet_length(new.pause_notified_at), 0) + coalesce(octet_length(new.last_sent_at), 0) + coalesce(octet_length(new.links_to), 0) + coalesce(octet_length(new.slack_channel), 0) + coalesce(octet_length(new.confirmed_at), 0) + coalesce(octet_length(new.confirm_by), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_integrations_delete` AFTER DELETE ON `integrations` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.type) + octet_length(old.configuration) + octet_length(old.url) + octet_length(old.shown_url) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.stack_ids), 0) + coalesce(octet_length(old.secret), 0) + coalesce(octet_length(old.previous_secret), 0) + coalesce(octet_length(old.previous_secret_until), 0) + coalesce(octet_length(old.disabled_at), 0) + coalesce(octet_length(old.disabled_reason), 0) + coalesce(octet_length(old.failing_since), 0) + coalesce(octet_length(old.paused_until), 0) + coalesce(octet_length(old.failure_notified_at), 0) + coalesce(octet_length(old.pause_notified_at), 0) + coalesce(octet_length(old.last_sent_at), 0) + coalesce(octet_length(old.links_to), 0) + coalesce(octet_length(old.slack_channel), 0) + coalesce(octet_length(old.confirmed_at), 0) + coalesce(octet_length(old.confirm_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'integrations';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_integrations_update` AFTER UPDATE OF `project_id`, `type`, `configuration`, `url`, `shown_url`, `environment_ids`, `stack_ids`, `secret`, `previous_secret`, `previous_secret_until`, `disabled_at`, `disabled_reason`, `failing_since`, `paused_until`, `failure_notified_at`, `pause_notified_at`, `last_sent_at`, `links_to`, `slack_channel`, `confirmed_at`, `confirm_by`, `created_at`, `updated_at`, `record_version` ON `integrations`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.type) + octet_length(new.configuration) + octet_length(new.url) + octet_length(new.shown_url) + coalesce(octet_length(new.environment_ids), 0) + coalesce(octet_length(new.stack_ids), 0) + coalesce(octet_length(new.secret), 0) + coalesce(octet_length(new.previous_secret), 0) + coalesce(octet_length(new.previous_secret_until), 0) + coalesce(octet_length(new.disabled_at), 0) + coalesce(octet_length(new.disabled_reason), 0) + coalesce(octet_length(new.failing_since), 0) + coalesce(octet_length(new.paused_until), 0) + coalesce(octet_length(new.failure_notified_at), 0) + coalesce(octet_length(new.pause_notified_at), 0) + coalesce(octet_length(new.last_sent_at), 0) + coalesce(octet_length(new.links_to), 0) + coalesce(octet_length(new.slack_channel), 0) + coalesce(octet_length(new.confirmed_at), 0) + coalesce(octet_length(new.confirm_by), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.type) + octet_length(old.configuration) + octet_length(old.url) + octet_length(old.shown_url) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.stack_ids), 0) + coalesce(octet_length(old.secret), 0) + coalesce(octet_length(old.previous_secret), 0) + coalesce(octet_length(old.previous_secret_until), 0) + coalesce(octet_length(old.disabled_at), 0) + coalesce(octet_length(old.disabled_reason), 0) + coalesce(octet_length(old.failing_since), 0) + coalesce(octet_length(old.paused_until), 0) + coalesce(octet_length(old.failure_notified_at), 0) + coalesce(octet_length(old.pause_notified_at), 0) + coalesce(octet_length(old.last_sent_at), 0) + coalesce(octet_length(old.links_to), 0) + coalesce(octet_length(old.slack_channel), 0) + coalesce(octet_length(old.confirmed_at), 0) + coalesce(octet_length(old.confirm_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.type) + octet_length(new.configuration) + octet_length(new.url) + octet_length(new.shown_url) + coalesce(octet_length(new.environment_ids), 0) + coalesce(octet_length(new.stack_ids), 0) + coalesce(octet_length(new.secret), 0) + coalesce(octet_length(new.previous_secret), 0) + coalesce(octet_length(new.previous_secret_until), 0) + coalesce(octet_length(new.disabled_at), 0) + coalesce(octet_length(new.disabled_reason), 0) + coalesce(octet_length(new.failing_since), 0) + coalesce(octet_length(new.paused_until), 0) + coalesce(octet_length(new.failure_notified_at), 0) + coalesce(octet_length(new.pause_notified_at), 0) + coalesce(octet_length(new.last_sent_at), 0) + coalesce(octet_length(new.links_to), 0) + coalesce(octet_length(new.slack_channel), 0) + coalesce(octet_length(new.confirmed_at), 0) + coalesce(octet_length(new.confirm_by), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.type) + octet_length(old.configuration) + octet_length(old.url) + octet_length(old.shown_url) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.stack_ids), 0) + coalesce(octet_length(old.secret), 0) + coalesce(octet_length(old.previous_secret), 0) + coalesce(octet_length(old.previous_secret_until), 0) + coalesce(octet_length(old.disabled_at), 0) + coalesce(octet_length(old.disabled_reason), 0) + coalesce(octet_length(old.failing_since), 0) + coalesce(octet_length(old.paused_until), 0) + coalesce(octet_length(old.failure_notified_at), 0) + coalesce(octet_length(old.pause_notified_at), 0) + coalesce(octet_length(old.last_sent_at), 0) + coalesce(octet_length(old.links_to), 0) + coalesce(octet_length(old.slack_channel), 0) + coalesce(octet_length(old.confirmed_at), 0) + coalesce(octet_length(old.confirm_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'integrations';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_integrations_tombstone` AFTER UPDATE OF `organization_id` ON `integrations` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.type) + octet_length(old.configuration) + octet_length(old.url) + octet_length(old.shown_url) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.stack_ids), 0) + coalesce(octet_length(old.secret), 0) + coalesce(octet_length(old.previous_secret), 0) + coalesce(octet_length(old.previous_secret_until), 0) + coalesce(octet_length(old.disabled_at), 0) + coalesce(octet_length(old.disabled_reason), 0) + coalesce(octet_length(old.failing_since), 0) + coalesce(octet_length(old.paused_until), 0) + coalesce(octet_length(old.failure_notified_at), 0) + coalesce(octet_length(old.pause_notified_at), 0) + coalesce(octet_length(old.last_sent_at), 0) + coalesce(octet_length(old.links_to), 0) + coalesce(octet_length(old.slack_channel), 0) + coalesce(octet_length(old.confirmed_at), 0) + coalesce(octet_length(old.confirm_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'integrations';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_recoveries_insert` AFTER INSERT ON `recoveries` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.integration_id) + octet_length(new.since) + octet_length(new.until) + octet_length(new.status) + coalesce(octet_length(new.position), 0) + octet_length(new.recovered) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.finished_at), 0))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_recoveries_delete` AFTER DELETE ON `recoveries` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.integration_id) + octet_length(old.since) + octet_length(old.until) + octet_length(old.status) + coalesce(octet_length(old.position), 0) + octet_length(old.recovered) + octet_length(old.created_at) + octet_length(old.updated_at) + coalesce(octet_length(old.finished_at), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_recoveries_update` AFTER UPDATE OF `project_id`, `integration_id`, `since`, `until`, `status`, `position`, `recovered`, `created_at`, `updated_at`, `finished_at` ON `recoveries`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.integration_id) + octet_length(new.since) + octet_length(new.until) + octet_length(new.status) + coalesce(octet_length(new.position), 0) + octet_length(new.recovered) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.finished_at), 0)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.integration_id) + octet_length(old.since) + octet_length(old.until) + octet_length(old.status) + coalesce(octet_length(old.position), 0) + octet_length(old.recovered) + octet_length(old.created_at) + octet_length(old.updated_at) + coalesce(octet_length(old.finished_at), 0)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.integration_id) + octet_length(new.since) + octet_length(new.until) + octet_length(new.status) + coalesce(octet_length(new.position), 0) + octet_length(new.recovered) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.finished_at), 0)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.integration_id) + octet_length(old.since) + octet_length(old.until) + octet_length(old.status) + coalesce(octet_length(old.position), 0) + octet_length(old.recovered) + octet_length(old.created_at) + octet_length(old.updated_at) + coalesce(octet_length(old.finished_at), 0))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
-- Counts the bytes of an organization's history. The schedule counts what is inserted, because a
-- trigger for each event would make its batch slower (scripts/lib/usage-triggers.ts).
CREATE TRIGGER `history_changelog_entries_delete` AFTER DELETE ON `changelog_entries` BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + coalesce(octet_length(old.account_id), 0) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.key_id), 0) + octet_length(old.action) + octet_length(old.record_type) + octet_length(old.record_id) + coalesce(octet_length(old.record_name), 0) + coalesce(octet_length(old.before), 0) + coalesce(octet_length(old.after), 0) + octet_length(old.created_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'changelog' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'changelog_entries');
	UPDATE `history_positions` SET `position` = coalesce((SELECT max(rowid) FROM `changelog_entries`), 0) WHERE `table_name` = 'changelog_entries' AND `position` > coalesce((SELECT max(rowid) FROM `changelog_entries`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `history_changelog_entries_update` AFTER UPDATE OF `project_id`, `account_id`, `membership_id`, `key_id`, `action`, `record_type`, `record_id`, `record_name`, `before`, `after` ON `changelog_entries`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + coalesce(octet_length(new.account_id), 0) + coalesce(octet_length(new.membership_id), 0) + coalesce(octet_length(new.key_id), 0) + octet_length(new.action) + octet_length(new.record_type) + octet_length(new.record_id) + coalesce(octet_length(new.record_name), 0) + coalesce(octet_length(new.before), 0) + coalesce(octet_length(new.after), 0) + octet_length(new.created_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + coalesce(octet_length(old.account_id), 0) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.key_id), 0) + octet_length(old.action) + octet_length(old.record_type) + octet_length(old.record_id) + coalesce(octet_length(old.record_name), 0) + coalesce(octet_length(old.before), 0) + coalesce(octet_length(old.after), 0) + octet_length(old.created_at)) BEGIN
	UPDATE `history_usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + coalesce(octet_length(new.account_id), 0) + coalesce(octet_length(new.membership_id), 0) + coalesce(octet_length(new.key_id), 0) + octet_length(new.action) + octet_length(new.record_type) + octet_length(new.record_id) + coalesce(octet_length(new.record_name), 0) + coalesce(octet_length(new.before), 0) + coalesce(octet_length(new.after), 0) + octet_length(new.created_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + coalesce(octet_length(old.account_id), 0) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.key_id), 0) + octet_length(old.action) + octet_length(old.record_type) + octet_length(old.record_id) + coalesce(octet_length(old.record_name), 0) + coalesce(octet_length(old.before), 0) + coalesce(octet_length(old.after), 0) + octet_length(old.created_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'changelog' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'changelog_entries');
END;
--> statement-breakpoint
CREATE TRIGGER `history_deliveries_delete` AFTER DELETE ON `deliveries` BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.integration_id) + octet_length(old.event_id) + octet_length(old.type) + octet_length(old.occurred_at) + octet_length(old.created_at) + octet_length(old.updated_at) + 36)
	WHERE `organization_id` = old.organization_id AND `kind` = 'deliveries' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'deliveries');
	UPDATE `history_positions` SET `position` = coalesce((SELECT max(rowid) FROM `deliveries`), 0) WHERE `table_name` = 'deliveries' AND `position` > coalesce((SELECT max(rowid) FROM `deliveries`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `history_deliveries_update` AFTER UPDATE OF `project_id`, `integration_id`, `event_id`, `type`, `occurred_at` ON `deliveries`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.integration_id) + octet_length(new.event_id) + octet_length(new.type) + octet_length(new.occurred_at) + octet_length(new.created_at) + octet_length(new.updated_at) + 36) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.integration_id) + octet_length(old.event_id) + octet_length(old.type) + octet_length(old.occurred_at) + octet_length(old.created_at) + octet_length(old.updated_at) + 36) BEGIN
	UPDATE `history_usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.integration_id) + octet_length(new.event_id) + octet_length(new.type) + octet_length(new.occurred_at) + octet_length(new.created_at) + octet_length(new.updated_at) + 36) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.integration_id) + octet_length(old.event_id) + octet_length(old.type) + octet_length(old.occurred_at) + octet_length(old.created_at) + octet_length(old.updated_at) + 36)
	WHERE `organization_id` = old.organization_id AND `kind` = 'deliveries' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'deliveries');
END;
--> statement-breakpoint
CREATE TRIGGER `history_delivery_attempts_delete` AFTER DELETE ON `delivery_attempts` BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.delivery_id) + octet_length(old.number) + octet_length(old.organization_id) + octet_length(old.started_at) + octet_length(old.duration_ms) + coalesce(octet_length(old.status_code), 0) + coalesce(octet_length(old.error), 0) + coalesce(octet_length(old.response), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'delivery_attempts' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'delivery_attempts');
	UPDATE `history_positions` SET `position` = coalesce((SELECT max(rowid) FROM `delivery_attempts`), 0) WHERE `table_name` = 'delivery_attempts' AND `position` > coalesce((SELECT max(rowid) FROM `delivery_attempts`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `history_delivery_attempts_update` AFTER UPDATE OF `delivery_id`, `number`, `started_at`, `duration_ms`, `status_code`, `error`, `response` ON `delivery_attempts`
WHEN (octet_length(new.delivery_id) + octet_length(new.number) + octet_length(new.organization_id) + octet_length(new.started_at) + octet_length(new.duration_ms) + coalesce(octet_length(new.status_code), 0) + coalesce(octet_length(new.error), 0) + coalesce(octet_length(new.response), 0)) <> (octet_length(old.delivery_id) + octet_length(old.number) + octet_length(old.organization_id) + octet_length(old.started_at) + octet_length(old.duration_ms) + coalesce(octet_length(old.status_code), 0) + coalesce(octet_length(old.error), 0) + coalesce(octet_length(old.response), 0)) BEGIN
	UPDATE `history_usage` SET `bytes` = `bytes` + (octet_length(new.delivery_id) + octet_length(new.number) + octet_length(new.organization_id) + octet_length(new.started_at) + octet_length(new.duration_ms) + coalesce(octet_length(new.status_code), 0) + coalesce(octet_length(new.error), 0) + coalesce(octet_length(new.response), 0)) - (octet_length(old.delivery_id) + octet_length(old.number) + octet_length(old.organization_id) + octet_length(old.started_at) + octet_length(old.duration_ms) + coalesce(octet_length(old.status_code), 0) + coalesce(octet_length(old.error), 0) + coalesce(octet_length(old.response), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'delivery_attempts' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'delivery_attempts');
END;
--> statement-breakpoint
CREATE TRIGGER `history_events_delete` AFTER DELETE ON `events` BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + coalesce(octet_length(old.environment_id), 0) + octet_length(old.type) + octet_length(old.data) + octet_length(old.created_at) + octet_length(old.last_used_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'events' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'events');
	UPDATE `history_positions` SET `position` = coalesce((SELECT max(rowid) FROM `events`), 0) WHERE `table_name` = 'events' AND `position` > coalesce((SELECT max(rowid) FROM `events`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `history_events_update` AFTER UPDATE OF `project_id`, `environment_id`, `type`, `data`, `last_used_at` ON `events`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + coalesce(octet_length(new.environment_id), 0) + octet_length(new.type) + octet_length(new.data) + octet_length(new.created_at) + octet_length(new.last_used_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + coalesce(octet_length(old.environment_id), 0) + octet_length(old.type) + octet_length(old.data) + octet_length(old.created_at) + octet_length(old.last_used_at)) BEGIN
	UPDATE `history_usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + coalesce(octet_length(new.environment_id), 0) + octet_length(new.type) + octet_length(new.data) + octet_length(new.created_at) + octet_length(new.last_used_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + coalesce(octet_length(old.environment_id), 0) + octet_length(old.type) + octet_length(old.data) + octet_length(old.created_at) + octet_length(old.last_used_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'events' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'events');
END;
--> statement-breakpoint
CREATE TRIGGER `history_audit_log_delete` AFTER DELETE ON `audit_log` BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.created_at) + octet_length(old.action) + octet_length(old.outcome) + octet_length(old.actor_type) + coalesce(octet_length(old.credential_id), 0) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.account_id), 0) + coalesce(octet_length(old.pool_id), 0) + coalesce(octet_length(old.creator_key_id), 0) + coalesce(octet_length(old.creator_membership_id), 0) + octet_length(old.target_type) + octet_length(old.target_id) + coalesce(octet_length(old.target_name), 0) + coalesce(octet_length(old.project_id), 0) + coalesce(octet_length(old.client_address), 0) + coalesce(octet_length(old.user_agent), 0) + coalesce(octet_length(old.request_id), 0) + coalesce(octet_length(old.changes), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'audit_log' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'audit_log');
	UPDATE `history_positions` SET `position` = coalesce((SELECT max(rowid) FROM `audit_log`), 0) WHERE `table_name` = 'audit_log' AND `position` > coalesce((SELECT max(rowid) FROM `audit_log`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `history_audit_log_update` AFTER UPDATE OF `action`, `outcome`, `actor_type`, `credential_id`, `membership_id`, `account_id`, `pool_id`, `creator_key_id`, `creator_membership_id`, `target_type`, `target_id`, `target_name`, `project_id`, `client_address`, `user_agent`, `request_id`, `changes` ON `audit_log`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.created_at) + octet_length(new.action) + octet_length(new.outcome) + octet_length(new.actor_type) + coalesce(octet_length(new.credential_id), 0) + coalesce(octet_length(new.membership_id), 0) + coalesce(octet_length(new.account_id), 0) + coalesce(octet_length(new.pool_id), 0) + coalesce(octet_length(new.creator_key_id), 0) + coalesce(octet_length(new.creator_membership_id), 0) + octet_length(new.target_type) + octet_length(new.target_id) + coalesce(octet_length(new.target_name), 0) + coalesce(octet_length(new.project_id), 0) + coalesce(octet_length(new.client_address), 0) + coalesce(octet_length(new.user_agent), 0) + coalesce(octet_length(new.request_id), 0) + coalesce(octet_length(new.changes), 0)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.created_at) + octet_length(old.action) + octet_length(old.outcome) + octet_length(old.actor_type) + coalesce(octet_length(old.credential_id), 0) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.account_id), 0) + coalesce(octet_length(old.pool_id), 0) + coalesce(octet_length(old.creator_key_id), 0) + coalesce(octet_length(old.creator_membership_id), 0) + octet_length(old.target_type) + octet_length(old.target_id) + coalesce(octet_length(old.target_name), 0) + coalesce(octet_length(old.project_id), 0) + coalesce(octet_length(old.client_address), 0) + coalesce(octet_length(old.user_agent), 0) + coalesce(octet_length(old.request_id), 0) + coalesce(octet_length(old.changes), 0)) BEGIN
	UPDATE `history_usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.created_at) + octet_length(new.action) + octet_length(new.outcome) + octet_length(new.actor_type) + coalesce(octet_length(new.credential_id), 0) + coalesce(octet_length(new.membership_id), 0) + coalesce(octet_length(new.account_id), 0) + coalesce(octet_length(new.pool_id), 0) + coalesce(octet_length(new.creator_key_id), 0) + coalesce(octet_length(new.creator_membership_id), 0) + octet_length(new.target_type) + octet_length(new.target_id) + coalesce(octet_length(new.target_name), 0) + coalesce(octet_length(new.project_id), 0) + coalesce(octet_length(new.client_address), 0) + coalesce(octet_length(new.user_agent), 0) + coalesce(octet_length(new.request_id), 0) + coalesce(octet_length(new.changes), 0)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.created_at) + octet_length(old.action) + octet_length(old.outcome) + octet_length(old.actor_type) + coalesce(octet_length(old.credential_id), 0) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.account_id), 0) + coalesce(octet_length(old.pool_id), 0) + coalesce(octet_length(old.creator_key_id), 0) + coalesce(octet_length(old.creator_membership_id), 0) + octet_length(old.target_type) + octet_length(old.target_id) + coalesce(octet_length(old.target_name), 0) + coalesce(octet_length(old.project_id), 0) + coalesce(octet_length(old.client_address), 0) + coalesce(octet_length(old.user_agent), 0) + coalesce(octet_length(old.request_id), 0) + coalesce(octet_length(old.changes), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'audit_log' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'audit_log');
END;