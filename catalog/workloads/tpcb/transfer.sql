-- Five statements in one transaction.
UPDATE tpcb_accounts SET balance = balance + :delta WHERE aid = :aid;
SELECT balance FROM tpcb_accounts WHERE aid = :aid;
UPDATE tpcb_tellers SET balance = balance + :delta WHERE tid = :tid;
UPDATE tpcb_branches SET balance = balance + :delta WHERE bid = :bid;
INSERT INTO tpcb_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
