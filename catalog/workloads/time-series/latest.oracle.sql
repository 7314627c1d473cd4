SELECT moment, reading FROM ts_points WHERE series = :series ORDER BY id DESC FETCH FIRST 100 ROWS ONLY;
