-- One branch, 10 tellers, 100,000 accounts, and a history that is empty at first.
CREATE TABLE tpcb_branches (bid INT NOT NULL PRIMARY KEY, balance INT NOT NULL, filler CHAR(88) NOT NULL);
CREATE TABLE tpcb_tellers (tid INT NOT NULL PRIMARY KEY, bid INT NOT NULL, balance INT NOT NULL, filler CHAR(84) NOT NULL);
CREATE TABLE tpcb_accounts (aid INT NOT NULL PRIMARY KEY, bid INT NOT NULL, balance INT NOT NULL, filler CHAR(84) NOT NULL);
CREATE TABLE tpcb_history (
  tid INT NOT NULL, bid INT NOT NULL, aid INT NOT NULL, delta INT NOT NULL, mtime TIMESTAMP NOT NULL, filler CHAR(22)
);
CREATE TABLE tpcb_digits (d INT NOT NULL PRIMARY KEY);
INSERT INTO tpcb_digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
INSERT INTO tpcb_branches VALUES (1, 0, '-');
INSERT INTO tpcb_tellers SELECT 1 + a.d, 1, 0, '-' FROM tpcb_digits a;
INSERT INTO tpcb_accounts SELECT 1 + a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d, 1, 0, '-' FROM tpcb_digits a, tpcb_digits b, tpcb_digits c, tpcb_digits e, tpcb_digits f;
DROP TABLE tpcb_digits;
