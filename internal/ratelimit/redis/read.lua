-- Replies with the list of nodes or, if a number is given, with that piece of a publication,
-- unless it is longer than anything that robots write.
--
-- KEYS  nodes or pieces
-- ARGV  most bytes [number]
local value
if ARGV[2] then
  value = redis.call('LINDEX', KEYS[1], ARGV[2])
else
  value = redis.call('GET', KEYS[1])
end
if value and #value > tonumber(ARGV[1]) then
  error('WRONGTYPE this was not written by robots')
end
return value
