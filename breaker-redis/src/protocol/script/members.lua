---- versions

local function is_same(a, b)
  return a and b and a[1] == b[1] and a[2] == b[2] or a == b
end

-- `version.rs` says why.
local function is_believed(v)
  return v[1] <= now + AHEAD
end

local function next_of(v)
  return v[2] < MAX_NUMBER and { v[1], v[2] + 1 } or { v[1] + 1, 1 }
end

local function founded(after)
  return { after and max(now, after[1] + 1) or now, 1 }
end

---- members

local function counts_at(tick)
  return ticks[1] - tick < SLICES
end

local NOTHING = { 0, 0, 0, 0 }

-- What the instance said in this term, if it counts at this time.
local function said(term)
  return is_same(member[2], term) and { member[3], member[4], member[5], member[6] } or NOTHING
end

local function passed()
  local since = min(ticks[2], now)
  local more = floor((now - since) / width)
  local tick = ticks[1] + more
  local settled = more < SLICES and ticks[3] or tick + TO_SETTLE
  return { tick, since + more * width, settled }, more
end

local function slice_of(says)
  return {
    1, says[1], says[2], says[3], says[2] > 0 and 1 or 0, says[3] > 0 and 1 or 0, says[4],
  }
end

local function add(tick, says, sign)
  local slice = slices[tick % SLICES]
  slice.changed = true
  for i, part in ipairs(slice_of(says)) do
    -- Below 0 only where versions have come to their end.
    slice[i] = max(slice[i] + sign * part, 0)
  end
end

local has_ticked, has_come = false, false

-- Lets the time pass, and forgets the slices that it takes.
local function pass()
  local before = ticks[1]
  local more
  ticks, more = passed()
  for step = 1, min(more, SLICES) do
    slices[(before + step) % SLICES] = { 0, 0, 0, 0, 0, 0, 0, changed = true }
  end
  has_ticked = has_ticked or more > 0
end

-- The instance says something else than before: `change` makes it of what that was.
local function say(term, change)
  if ticks then
    pass()
  else
    ticks = { 1, now, 1 + TO_SETTLE }
    for i = 0, SLICES - 1 do
      slices[i] = { 0, 0, 0, 0, 0, 0, 0, changed = true }
    end
  end
  has_come = has_come or not member
  local says = NOTHING
  if member and counts_at(member[1]) then
    says = said(term)
    add(member[1], says, -1)
  end
  says = change(says)
  add(ticks[1], says, 1)
  member = { ticks[1], term, says[1], says[2], says[3], says[4] }
end

local function is_member()
  return ticks and member and passed()[1] - member[1] < SLICES
end

local function hear(term)
  if present or is_member() then
    say(term, function(says) return says end)
  end
end

local has_left = false

-- The instance is over, and counts no more.
local function leave(term)
  if is_member() then
    pass()
    add(member[1], said(term), -1)
    member, has_left = false, true
  end
end

local function begin_term()
  for _, slice in pairs(slices) do
    for i = 2, 7 do
      slice[i] = 0
      slice.changed = true
    end
  end
end

local function sum(i)
  local sum = 0
  for _, slice in pairs(slices) do
    sum = sum + slice[i]
  end
  return sum
end

local function share_reached(billionths, part, whole)
  return part * 1e9 >= whole * billionths
end

local function quorum_reached(kind, least, instances)
  if kind == 'instances' then
    return instances >= least
  end
  local alive = sum(1)
  return ticks[1] >= ticks[3] and instances >= min(alive, 2)
    and share_reached(least, instances, alive)
end
