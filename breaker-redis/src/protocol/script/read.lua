-- What becomes of a circuit's record when an instance asks something: as `rules.rs` says.
-- First everything is read and decided, then written; so nothing is changed where something is wrong.
--
-- KEYS[1]  the circuit's hash:
--            format          of all that follows
--            record          how it stands (absent until somebody had something to say)
--            ticks, slice0-4 the fleet's sums, by when instances were last heard of (`members.rs`)
--            member:{who}    what an instance has said
-- ARGV     who, alive, present, longest lease, channel, label, milliseconds that the key lives without
--          use, command, known version, what the instance declares, what belongs to the command

local FORMAT = '1'
-- Doubles hold every whole number up to 2^53.
local MAX_NUMBER = 4503599627370496
-- The longest wait, and lease.
local LONGEST_WAIT = 86400000000
local SHORTEST_LEASE = 100000
-- How far an epoch may be ahead of the clock, and the latest that the clock says.
local AHEAD = 366 * 86400000000
local LATEST = MAX_NUMBER - 2 * AHEAD
local MAX_COUNT = 4294967295
local SLICES = 5
local TO_SETTLE = 2
local CENSUS = 500000
local CENSUS_HOLDS = 1000000
local LONGEST = 512
-- Of the instances that are silent: when time has passed, and for each one that comes.
local SWEPT_AT_ONCE = 64
local SWEPT_FOR_ONE = 8

local floor, max, min = math.floor, math.max, math.min
local find, format, match = string.find, string.format, string.match

local clock = redis.call('TIME')
local now = min(clock[1] * 1000000 + clock[2], LATEST)

---- reading

local function number(text, most)
  if text and #text <= 16 and find(text, '^%d+$') then
    local value = tonumber(text)
    return value <= most and value or nil
  end
end

local function is_name(text)
  return #text <= 64 and find(text, '^[!-~]+$') and text ~= '-'
end

-- What is written can be read again, also where somebody calls the script by hand.
local function argument(value)
  return value or error('breaker-redis: an argument is missing, or makes no sense')
end

local function argument_number(at, most)
  return argument(number(ARGV[at], most))
end

-- More counts as the most.
local function argument_time(at, least, most)
  return min(max(argument_number(at, 9999999999999999), least), most)
end

local who, channel, label = argument(is_name(ARGV[1] or '') and ARGV[1]), ARGV[5], ARGV[6]
local width = floor(argument_time(2, 100000, 86400000000) / 4)
local present = ARGV[3] == '1'
local longest_lease = argument_time(4, SHORTEST_LEASE, LONGEST_WAIT)
local ttl = argument_time(7, 1000, 365 * 86400000)
local command = ARGV[8]

-- `false`: none; `nil`: nonsense.
local function version(text)
  if text == '-' then
    return false
  end
  local epoch, counter = match(text, '^(%d+)%.(%d+)$')
  epoch, counter = number(epoch, MAX_NUMBER), number(counter, MAX_NUMBER)
  return epoch and counter and { epoch, counter } or nil
end

local function is_later(a, b)
  return a[1] > b[1] or (a[1] == b[1] and a[2] > b[2])
end

local STATES = {
  closed = true, open = true, half_open = true, forced_open = true, disabled = true, shadow = true,
}
-- The largest number of each.
local CAUSES = {
  founded = 0, tripped = MAX_COUNT, counted = MAX_COUNT, voted = MAX_COUNT, overloaded = 0, leased = 0,
  released = 0, recovered = 0, operator = 0,
}

local DECLARED = '^([cr]):(%d+):(%d+):(%d+):(%d+):[01]:([is]):(%d+)$'

-- Whether it is what an instance may declare.
local function is_declared(text)
  local rule, first, second, third, reset, quorum, least =
    match(#text <= 64 and text or '', DECLARED)
  local is_rate = rule == 'r'
  first, second = number(first, is_rate and 1e9 or MAX_COUNT), number(second, is_rate and 1e9 or 0)
  third, reset = number(third, is_rate and MAX_COUNT or 0), number(reset, LONGEST_WAIT)
  least = number(least, quorum == 's' and 1e9 or MAX_COUNT)
  return first and second and third and reset and least and (quorum == 'i' or least > 0) or false
end

local declared = argument(ARGV[10])
declared = declared ~= '-' and argument(is_declared(declared) and declared)

local RECORD = '^(%S+)' .. string.rep(' (%S+)', 15) .. '$'

local function read_record(text)
  local f = #text <= LONGEST and { match(text, RECORD) } or {}
  if #f ~= 16 then
    return nil
  end
  local record = {
    version = version(f[1]), state = f[2], wait = number(f[3], LONGEST_WAIT), imposed = f[4],
    reopenings = number(f[5], 255), since = number(f[6], MAX_NUMBER), cause = f[7],
    number = number(f[8], CAUSES[f[7]] or 0), by = f[9], holder = f[10] ~= '-' and f[10],
    lease_since = number(f[11], MAX_NUMBER), lease_lasts = number(f[12], LONGEST_WAIT),
    operated = version(f[13]), offered = version(f[14]),
    census = f[15] ~= '-' and number(f[15], MAX_NUMBER), declared = f[16] ~= '-' and f[16],
  }
  local is_whole = record.version and STATES[record.state] and record.wait
    and (f[4] == '0' or f[4] == '1') and record.reopenings and record.since
    and CAUSES[record.cause] and record.number and is_name(record.by)
    and (not record.holder or is_name(record.holder)) and record.lease_since and record.lease_lasts
    and record.operated ~= nil and record.offered ~= nil and record.census ~= nil
    and not (record.operated and is_later(record.operated, record.version))
    and not (record.offered and not is_later(record.version, record.offered))
    and (record.state == 'half_open') == (record.holder ~= false)
    and (record.state == 'open' or (record.wait == 0 and record.imposed == '0'))
    and (record.state == 'closed' or not record.census)
    and (not record.declared or is_declared(record.declared))
  return is_whole and record or nil
end

local THREE = '^(%d+) (%d+) (%d+)'
local FOUR = THREE .. ' (%d+)$'
local SEVEN = THREE .. ' (%d+) (%d+) (%d+) (%d+)$'

-- The numbers that a pattern finds, if all are whole ones.
local function read_numbers(text, pattern)
  local numbers = #text <= LONGEST and { match(text, pattern) } or {}
  for i, field in ipairs(numbers) do
    local value = tonumber(field)
    if value > MAX_NUMBER * 2 - 1 then
      return nil
    end
    numbers[i] = value
  end
  return #numbers > 0 and numbers or nil
end

local member_field = 'member:' .. who
local got = redis.pcall('HMGET', KEYS[1], 'format', 'record', 'ticks', member_field,
  'slice0', 'slice1', 'slice2', 'slice3', 'slice4')
if got.err then
  return find(got.err, '^WRONGTYPE') and FORMAT .. ' foreign' or got
end
local exists = got[1] and true or false
if exists and got[1] ~= FORMAT then
  return FORMAT .. ' format'
end
if not exists and redis.call('EXISTS', KEYS[1]) == 1 then
  return FORMAT .. ' foreign'
end

local record = false
if got[2] then
  record = read_record(got[2])
end

-- { tick, since, settled }, and where in the hash silent members were looked for last
local ticks, cursor = false, '0'
-- { present, calls, failures, slow, failing, slowed, votes }
local slices = {}
local slices_whole = true
if got[3] then
  local numbers
  numbers, cursor = match(got[3], '^([%d ]+) (%d+)$')
  ticks = numbers and #cursor <= 20 and read_numbers(numbers, THREE .. '$')
  slices_whole = ticks and true or false
  for i = 0, SLICES - 1 do
    slices[i] = got[5 + i] and read_numbers(got[5 + i], SEVEN)
    slices_whole = slices_whole and slices[i]
  end
end

-- { tick, term, calls, failures, slow, vote }
local member = false
if got[4] then
  local tick, term, counts = match(got[4], '^(%d+) ([%d.-]+) ([%d ]+)$')
  counts = counts and read_numbers(counts, FOUR)
  tick, term = number(tick, MAX_NUMBER * 2 - 1), term and version(term)
  member = tick and term ~= nil and counts
    and { tick, term, counts[1], counts[2], counts[3], counts[4] }
end

if record == nil or not slices_whole or member == nil or (member and not ticks)
  or (ticks and (ticks[1] < 1 or (member and member[1] > ticks[1]))) then
  return FORMAT .. ' malformed'
end
