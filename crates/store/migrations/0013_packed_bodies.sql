-- What services said is kept packed (LZ4): this is how long it was. What was kept before is as it came.
ALTER TABLE delivery ADD COLUMN body_bytes BIGINT;
