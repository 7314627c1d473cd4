SELECT moment, reading FROM ts_points WHERE series = :series ORDER BY id DESC LIMIT 100;
