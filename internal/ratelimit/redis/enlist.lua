-- Enters what a node has published into the list of nodes, instead of what it had there.
--
-- KEYS  nodes
-- ARGV  node, what it has published, milliseconds to keep it, most nodes, most bytes
--
-- Each line of the list is of a node: its name, until when it counts, and what it has published.
-- The newest is first. Lines whose time is past are left out, and the last ones if there
-- are too many. Replies with what the node had there, or nothing.
local now = tonumber(redis.call('TIME')[1]) * 1000
local keep, most = tonumber(ARGV[3]), tonumber(ARGV[4])
local lines, longest, before = {string.format('%s %.0f %s', ARGV[1], now + keep, ARGV[2])}, keep, ''
local text = redis.call('GET', KEYS[1]) or ''
if #text > tonumber(ARGV[5]) then
  error('WRONGTYPE this was not written by robots')
end
for line in string.gmatch(text, '[^\n]+') do
  local node, ends, what = string.match(line, '^(%S+) (%d+) (.+)$')
  if not node or #ends > 15 then
    error('WRONGTYPE this was not written by robots')
  end
  local left = tonumber(ends) - now
  if node == ARGV[1] then
    before = what
  elseif left > 0 and #lines < most then
    lines[#lines + 1] = line
    longest = math.max(longest, left)
  end
end
redis.call('SET', KEYS[1], table.concat(lines, '\n'), 'PX', string.format('%.0f', longest))
return before
