DROP TABLE queue_jobs;
DROP TABLE queue_lanes;
