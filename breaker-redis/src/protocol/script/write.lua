---- writing

local function version_text(v)
  return v and format('%.0f.%.0f', v[1], v[2]) or '-'
end

local function number_text(n)
  return n and format('%.0f', n) or '-'
end

local writes = {}
local function put(field, text, before)
  if text ~= before then
    writes[#writes + 1] = field
    writes[#writes + 1] = text
  end
end

if record and record.changed then
  local r = record
  put('record', format('%s %s %.0f %s %.0f %.0f %s %.0f %s %s %.0f %.0f %s %s %s %s',
    version_text(r.version), r.state, r.wait, r.imposed, r.reopenings, r.since, r.cause, r.number,
    r.by, r.holder or '-', r.lease_since, r.lease_lasts, version_text(r.operated),
    version_text(r.offered), number_text(r.census), r.declared or '-'), got[2])
end
local silent = {}
if ticks then
  if has_ticked or has_come then
    -- Those that don't count any more take up room alone, and are looked for a few at a time: for each that
    -- comes more than one, so that they never are many more than those that count.
    local sweep = has_ticked and SWEPT_AT_ONCE or SWEPT_FOR_ONE
    local found = redis.call('HSCAN', KEYS[1], cursor, 'MATCH', 'member:*', 'COUNT', sweep)
    cursor = found[1]
    for i = 1, #found[2], 2 do
      local tick = number(match(found[2][i + 1], '^%d+'), MAX_NUMBER * 2 - 1)
      if tick and not counts_at(tick) and found[2][i] ~= member_field then
        silent[#silent + 1] = found[2][i]
      end
    end
  end
  put('ticks', format('%.0f %.0f %.0f %s', ticks[1], ticks[2], ticks[3], cursor), got[3])
  for i = 0, SLICES - 1 do
    if slices[i].changed then
      put('slice' .. i, format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f', unpack(slices[i])), got[5 + i])
    end
  end
end
if member then
  put(member_field, format('%.0f %s %.0f %.0f %.0f %.0f', member[1], version_text(member[2]),
    member[3], member[4], member[5], member[6]), got[4])
end

local told = ''
if record then
  local r = record
  told = format(' %s %s %.0f %s %.0f %s %.0f %s %s %.0f %s %s %s %s', version_text(r.version), r.state,
    left(r.since, r.wait), r.imposed, r.reopenings, r.cause, r.number, r.by, r.holder or '-',
    lease_left(), version_text(r.offered), number_text(census_age()), version_text(r.operated),
    r.declared or '-')
end

if publishes and redis.acl_check_cmd and not redis.acl_check_cmd('PUBLISH', channel, '') then
  return FORMAT .. ' unpublishable'
end
if #writes > 0 then
  put('format', FORMAT, got[1])
  -- The first that is written: it alone may be refused (for want of memory, say), and then nothing is.
  redis.call('HSET', KEYS[1], unpack(writes))
end
if is_lost and not record then
  redis.call('HDEL', KEYS[1], 'record')
end
if has_left then
  redis.call('HDEL', KEYS[1], member_field)
end
for _, field in ipairs(silent) do
  redis.call('HDEL', KEYS[1], field)
end
if exists or #writes > 0 then
  -- Not each time: it would be sent to replicas.
  if redis.call('PTTL', KEYS[1]) < ttl * 7 / 8 then
    redis.call('PEXPIRE', KEYS[1], format('%.0f', ttl))
  end
end
local listeners = ''
if publishes then
  listeners = format(' %.0f', redis.call('PUBLISH', channel, FORMAT .. ' ' .. label .. told))
end
return FORMAT .. ' ' .. verdict .. told .. listeners
