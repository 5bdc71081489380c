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

local call, format, match = redis.call, string.format, string.match

local now = tonumber(ARGV[1])
local spare = 3600000 -- ms: the caller's clock may be slower than that by which keys expire
if not now then
  local time = call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
  spare = 0
end

-- number reads a time. Below 2^53 they are exact.
local function number(text)
  local n = tonumber(text)
  if not n or not (n < 9007199254740992 and n > -9007199254740992) then
    error('WRONGTYPE this was not written by robots')
  end
  return n
end

-- keep writes a value that expires after a time, and not earlier.
local function keep(key, value, time)
  call('SET', key, value, 'PX', math.ceil(time / 1000) + spare)
end

-- pace is ratelimit.Limit.Take. A state is the arrival time, and an r if the
-- last request was refused.
local function pace(key, interval, slack, leeway)
  local state = call('GET', key)
  local spent = now + slack + interval
  local arrival, stored, refused = now, nil, false
  if state then
    stored = tonumber(state)
    if not stored then
      stored, refused, leeway = match(state, '^(%-?%d+)r$'), true, 0
    end
    stored = number(stored)
    arrival = math.min(math.max(stored, now), spent)
  end
  local wait = arrival - slack - now
  if wait <= leeway then
    arrival = math.min(arrival + interval, spent)
    keep(key, arrival, arrival - now)
    return 0
  end
  if not refused or arrival ~= stored then
    keep(key, format('%.0fr', arrival), arrival - now)
  end
  return wait
end

-- back is ratelimit.Limit.Return.
local function back(key, interval)
  local state = call('GET', key)
  if state then
    local stored, mark = match(state, '^(%-?%d+)(r?)$')
    local arrival = number(stored) - interval
    if arrival > now then
      keep(key, format('%.0f', arrival) .. mark, arrival - now)
    else
      call('DEL', key)
    end
  end
  return 0
end

local interval, slack, leeway = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if interval < 0 then
  return back(KEYS[1], -interval)
end
if not KEYS[2] then
  return pace(KEYS[1], interval, slack, leeway)
end

-- find returns the ban in force, and for how long. One that has yet to begin,
-- as the clock stepped back, is made to begin now.
local function find(key)
  local ban = call('GET', key)
  if not ban then
    return nil
  end
  local since, ends, why = match(ban, '^(%-?%d+) (%-?%d+) (%-?%d+ .*)$')
  since, ends = number(since), number(ends)
  if now >= ends then
    return nil
  end
  if now < since then
    ends = now + (ends - since)
    ban = format('%.0f %.0f ', now, ends) .. why
    keep(key, ban, ends - now)
  end
  return ban, ends - now
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

local ban, left = find(KEYS[2])
if ban then
  return {left, ban}
end
local wait = 0
if ARGV[5] == '0' then
  if interval > 0 then
    wait = pace(KEYS[1], interval, slack, leeway)
  end
  if wait == 0 then
    return 0
  end
end
if count(KEYS[3], tonumber(ARGV[7])) < tonumber(ARGV[6]) then
  return wait
end
local length = tonumber(ARGV[8])
ban = format('%.0f %.0f ', now, now + length) .. ARGV[9]
keep(KEYS[2], ban, length)
call('DEL', KEYS[3])
return {wait, ban, 1}
