DROP TABLE tpcb_history;
DROP TABLE tpcb_accounts;
DROP TABLE tpcb_tellers;
DROP TABLE tpcb_branches;
