-- Adds an event to the stream of bans, which lasts for as long as any of them.
--
-- KEYS  stream
-- ARGV  milliseconds to keep the event, most events, field, value ...
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', unpack(ARGV, 3))
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return id
