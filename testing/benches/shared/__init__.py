"""What every benchmark here shares: processes and their CPU time, servers, pairs, tables."""
