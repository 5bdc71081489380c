-- Judges one request as ratelimit.Limiter's Take does, in microseconds.
--
-- KEYS  pace [ban offences]
-- ARGV  now or '', interval, slack, leeway [offence, offences, within, for, why]
--
-- An interval below zero gives back what a request drew.
--
-- Replies with for how long the request is refused, 0 for not at all; if that is for a
-- ban, or brings one, with {that, the ban} or {that, the ban, 1}.
--
-- Data that is not ours is left as it is: reading it is an error with the word
-- WRONGTYPE, Redis's own or the one here.

-- Most requests ask for a pace alone: all that these need is written out, and functions are made where
-- something else is asked.

local call, format, match = redis.call, string.format, string.match

local now = ARGV[1]
local spare = 3600000 -- ms: the caller's clock may be slower than that by which keys expire
if now == '' then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
  spare = 0
end
now = now + 0
local interval = ARGV[2] + 0

local number, keep
if interval < 0 or KEYS[2] then
  -- number reads a time. Below 2^53 they are exact.
  number = function(text)
    local n = tonumber(text)
    if not n or not (n < 9007199254740992 and n > -9007199254740992) then
      error('WRONGTYPE this was not written by robots')
    end
    return n
  end

  -- keep writes a value that expires after a time, and not earlier.
  keep = function(key, value, time)
    call('SET', key, value, 'PX', math.ceil(time / 1000) + spare)
  end
end

if interval < 0 then -- ratelimit.Limit.Return
  local state = call('GET', KEYS[1])
  if state then
    local stored, mark = match(state, '^(%-?%d+)(r?)$')
    local arrival = number(stored) + interval
    if arrival > now then
      keep(KEYS[1], format('%.0f', arrival) .. mark, arrival - now)
    else
      call('DEL', KEYS[1])
    end
  end
  return 0
end

if KEYS[2] then -- is there a ban in force?
  local ban = call('GET', KEYS[2])
  if ban then
    local since, ends, why = match(ban, '^(%-?%d+) (%-?%d+) (%-?%d+ .*)$')
    since, ends = number(since), number(ends)
    if now < since then -- the clock stepped back: it begins now
      ends = now + (ends - since)
      ban = format('%.0f %.0f ', now, ends) .. why
      keep(KEYS[2], ban, ends - now)
    end
    if now < ends then
      return {ends - now, ban}
    end
  end
end

-- ratelimit.Limit.Take. A state is the arrival time, and an r if the last request was refused.
local wait = 0
if interval > 0 and ARGV[5] ~= '1' then
  local slack, leeway = ARGV[3] + 0, ARGV[4] + 0
  local state = call('GET', KEYS[1])
  local spent = now + slack + interval
  local arrival, stored, refused = now, nil, false
  if state then
    stored = tonumber(state)
    if not stored then
      stored, refused, leeway = tonumber(match(state, '^(%-?%d+)r$')), true, 0
    end
    if not stored or not (stored < 9007199254740992 and stored > -9007199254740992) then
      error('WRONGTYPE this was not written by robots')
    end
    arrival = stored
    if arrival < now then
      arrival = now
    end
    if arrival > spent then
      arrival = spent
    end
  end
  wait = arrival - slack - now
  local value
  if wait <= leeway then
    wait = 0
    arrival = arrival + interval
    if arrival > spent then
      arrival = spent
    end
    value = arrival
  elseif not refused or arrival ~= stored then
    value = format('%.0fr', arrival)
  end
  if value then
    call('SET', KEYS[1], value, 'PX', math.ceil((arrival - now) / 1000) + spare)
  end
end
if not KEYS[2] or ARGV[5] == '0' and wait == 0 then
  return wait
end

-- count adds an offence, and returns how many there are within the time until
-- now. The newest is on the left, and none is later than now.
local function count(key, within)
  local i = 0
  local time = call('LINDEX', key, i)
  while time and number(time) > now do
    call('LSET', key, i, now)
    i = i + 1
    time = call('LINDEX', key, i)
  end
  time = call('LINDEX', key, -1)
  while time and now - number(time) >= within do
    call('RPOP', key)
    time = call('LINDEX', key, -1)
  end
  local offences = call('LPUSH', key, now)
  call('PEXPIRE', key, math.ceil(within / 1000) + spare)
  return offences
end

if count(KEYS[3], tonumber(ARGV[7])) < tonumber(ARGV[6]) then
  return wait
end
local length = tonumber(ARGV[8])
local ban = format('%.0f %.0f ', now, now + length) .. ARGV[9]
keep(KEYS[2], ban, length)
call('DEL', KEYS[3])
return {wait, ban, 1}
