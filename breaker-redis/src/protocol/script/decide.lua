---- the record

local publishes = false

local known = version(ARGV[9] or '')
if known and not is_believed(known) then
  known = false
end
local is_lost = record and not is_believed(record.version)
if is_lost then
  record = false
  begin_term()
end
local standing
if not record then
  standing = 'missing'
elseif known then
  standing = is_later(known, record.version) and 'behind'
    or is_same(known, record.version) and 'current' or 'ahead'
else
  standing = record.state == 'closed' and 'current' or 'ahead'
end

local function left(since, lasts)
  return max(lasts - max(now - since, 0), 0)
end

local function lease_left()
  return left(record.lease_since, min(record.lease_lasts, longest_lease))
end

local function has_lease()
  return record and record.holder == who
end

-- Not an offer of what was an operator's word.
local is_order = command == 'change' and ARGV[15] == 'operator'

local function enter(to, cause, count)
  local before = record
  local goes_on = before and standing ~= 'behind' and before.version
  record = {
    version = goes_on and not is_order and next_of(goes_on) or founded(goes_on or known),
    state = to.state, wait = to.wait, imposed = to.imposed, reopenings = to.reopenings,
    since = now, cause = cause, number = count, by = who,
    holder = false, lease_since = 0, lease_lasts = 0,
    operated = before and before.operated or false, offered = false, census = false,
    -- An operator's program may know no more of the circuit than its name.
    declared = cause ~= 'operator' and declared, changed = true,
  }
  if cause == 'operator' then
    record.operated = record.version
  end
  begin_term()
  publishes = true
end

local function open_with_nothing_left(reopenings)
  return { state = 'open', wait = 0, imposed = '0', reopenings = reopenings }
end

-- A state, from the argument of this number on. What only a lease makes half-open is open without one.
local function shared(at)
  local state = argument(STATES[ARGV[at]] and ARGV[at])
  local open = state == 'open'
  return {
    state = state == 'half_open' and 'open' or state,
    wait = open and argument_time(at + 1, 0, LONGEST_WAIT) or 0,
    imposed = open and ARGV[at + 2] == '1' and '1' or '0',
    reopenings = argument_number(at + 3, 255),
  }
end

-- Why, and its number.
local function cause(at)
  local most = argument(CAUSES[ARGV[at]])
  return ARGV[at], argument_number(at + 1, most)
end

local function count_argument(at)
  return argument_number(at, MAX_COUNT)
end

---- the commands

local function may_change(cause, again)
  if not record then
    return true
  elseif cause == 'operator' then
    local operated = again and record.operated
    return not operated or (known and not is_later(operated, known))
  elseif standing == 'behind' then
    return true
  elseif standing == 'ahead' then
    return false
  elseif record.state == 'half_open' then
    return has_lease()
  end
  return record.state == 'closed' or record.state == 'open'
end

local function lease(lasts)
  if standing == 'missing' or standing == 'behind' then
    return standing
  end
  local is_trial = record.state == 'half_open'
  local rest
  if is_trial then
    rest = lease_left()
  else
    rest = left(record.since, record.wait)
  end
  if not (has_lease() and rest > 0) then
    local waits = is_trial or record.state == 'open'
    if not (waits and rest == 0 and standing == 'current') then
      return 'refused'
    end
    local to = open_with_nothing_left(record.reopenings)
    to.state = 'half_open'
    enter(to, 'leased', 0)
    record.holder = who
  end
  record.lease_since, record.lease_lasts, record.changed = now, lasts, true
  return 'done'
end

local function holding()
  if standing == 'missing' or standing == 'behind' then
    return standing
  end
  return standing == 'current' and has_lease() and 'done' or 'refused'
end

local function counting(worth_saying)
  if standing == 'missing' and worth_saying and not known then
    enter({ state = 'closed', wait = 0, imposed = '0', reopenings = 0 }, 'founded', 0)
  elseif standing == 'missing' or standing == 'behind' then
    return standing
  end
  return standing ~= 'ahead' and record.state == 'closed' and 'done' or 'refused'
end

local function vote(open, quorum, least, to)
  local verdict = counting(open == 1)
  if verdict == 'done' then
    say(record.version, function(says) return { says[1], says[2], says[3], open } end)
    local votes = sum(7)
    if open == 1 and quorum_reached(quorum, least, votes) then
      enter(to, 'voted', min(votes, MAX_COUNT))
    end
  end
  return verdict
end

-- How long ago the last census began, if it still holds.
local function census_age()
  local age = record.census and max(now - record.census, 0)
  return age and age <= CENSUS_HOLDS and age
end

-- Whether all have been asked what their windows hold, and had the time to say it; if not, they are
-- asked now.
local function after_census()
  local age = census_age()
  if not age then
    record.census, record.declared, record.changed = now, declared, true
    publishes = true
  end
  return age and age >= CENSUS
end

local function count(calls, failures, slow, limits, quorum, least, to)
  local verdict = counting(failures > 0 or slow > 0)
  if verdict == 'done' then
    say(record.version, function(says) return { calls, failures, slow, says[4] } end)
    local opens
    if limits[1] == 'consecutive' then
      opens = sum(3) >= limits[2] and quorum_reached(quorum, least, sum(5))
    else
      local calls_of_all = max(sum(2), limits[4])
      -- A share of 0: never.
      local function reached(share, part, instances)
        return share > 0 and share_reached(share, sum(part), calls_of_all)
          and quorum_reached(quorum, least, sum(instances))
      end
      opens = (reached(limits[2], 3, 5) or reached(limits[3], 4, 6))
        and after_census() and sum(2) >= limits[4]
    end
    if opens then
      enter(to, 'counted', min(sum(3), MAX_COUNT))
    end
  end
  return verdict
end

local function offer(to, cause, count)
  if record then
    if known and is_same(known, record.version) then
      return 'done'
    end
    local replaces = known and record.offered and is_later(known, record.offered)
      and known[1] < record.version[1]
    if standing ~= 'behind' and not replaces then
      return 'refused'
    end
  end
  enter(to, cause, count)
  record.offered, record.declared = known, false
  if cause == 'operator' then
    -- The word is of then, and whoever has spoken since has the last one.
    record.operated = known
  end
  return 'done'
end

if record and (record.since > now or record.lease_since > now or (record.census or 0) > now) then
  -- A clock that was set back: no time has passed.
  record.changed = true
  record.since = min(record.since, now)
  record.lease_since = min(record.lease_since, now)
  record.census = record.census and min(record.census, now)
end
if command == 'leave' then
  leave(record and record.version)
else
  hear(record and record.version)
end

local verdict
if command == 'read' or command == 'leave' then
  verdict = (standing == 'current' or standing == 'ahead') and 'done' or standing
elseif command == 'change' then
  verdict = 'refused'
  local why, number_of_why = cause(15)
  if may_change(why, ARGV[17] == '1') then
    enter(shared(11), why, number_of_why)
    verdict = 'done'
  end
elseif command == 'lease' then
  verdict = lease(argument_time(11, 0, longest_lease))
elseif command == 'renew' then
  verdict = holding()
  if verdict == 'done' then
    record.lease_since, record.lease_lasts = now, argument_time(11, 0, longest_lease)
    -- Else it would look like one that its holder made no use of.
    record.changed, publishes = true, true
  end
elseif command == 'release' then
  verdict = holding()
  if verdict == 'done' then
    enter(open_with_nothing_left(record.reopenings), 'released', 0)
  end
elseif command == 'vote' then
  verdict = vote(argument_number(11, 1), ARGV[12], count_argument(13), shared(14))
elseif command == 'count' then
  local limits = { ARGV[14], count_argument(15), count_argument(16), count_argument(17) }
  verdict = count(count_argument(11), count_argument(12), count_argument(13), limits, ARGV[18],
    count_argument(19), shared(20))
elseif command == 'offer' then
  verdict = offer(shared(11), cause(15))
else
  return redis.error_reply('ERR breaker-redis: unknown command')
end
