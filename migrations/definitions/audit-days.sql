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
