-- Adds a piece to those of one publication, which expire together.
--
-- KEYS  pieces
-- ARGV  piece, milliseconds to keep all of them
local pieces = redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return pieces
