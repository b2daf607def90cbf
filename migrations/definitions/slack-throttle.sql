-- Notes when Slack was last sent to, because Slack limits how often.

CREATE TRIGGER `deliveries_throttle_slack` AFTER UPDATE OF `attempts` ON `deliveries`
WHEN new.attempts > old.attempts BEGIN
	UPDATE `integrations` SET `last_sent_at` = new.updated_at WHERE `id` = new.integration_id AND `type` = 'slack';
END;
