SET application_name = 'settlement';
DO $$
BEGIN
  FOR i IN 1..200 LOOP
    PERFORM pg_sleep(0.3);     -- waits for the ledger's answer first
    UPDATE events SET seats_left = seats_left + 1 WHERE id <= 5;
    COMMIT;
    PERFORM pg_sleep(0.4);
  END LOOP;
END $$;
