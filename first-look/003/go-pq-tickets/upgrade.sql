-- what pg_upgrade or a restore leaves: no statistics until somebody runs ANALYZE
SELECT pg_sleep(8.5);
DELETE FROM pg_statistic WHERE starelid = 'visits'::regclass;
