// Generated from scripts/*.lua by tooling/checks/src/generate-lua.ts. Do not edit: run "npx -y pnpm@12.18.0 lua".

export const ALLOCATE_LUA = `
local call, pack, unpack, format = redis.call, cmsgpack.pack, cmsgpack.unpack, string.format
local floor, max, min = math.floor, math.max, math.min
local main, agents, line, due = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local r = cjson.decode(ARGV[1])
local time = call('TIME')
local now = ARGV[2] ~= '' and tonumber(ARGV[2]) or time[1] * 1000 + time[2] / 1000
local LEARN, SLOTS, BINS, SLACK, MOST_SWEPT, MOST_SERVED = 2.5, 240, 12, 1e-6, 64, 256
local CONTENDED, PACE, DEBT, FORGET_LIMITS, BACK_MS = 2, 1.1, 2, 5.5, 5000
local D, W, H = #r.limits, r.windowMs, r.heartbeatMs
local forgetMs = 2 * W + 60000
local function num(x) return format('%.17g', x) end
local function nums(list)
  local out = {}
  for i = 1, D do out[i] = num(list[i]) end
  return table.concat(out, ' ')
end
local function zeros()
  local list = {}
  for i = 1, D do list[i] = 0 end
  return list
end
local function copy(list)
  local out = {}
  for i = 1, D do out[i] = list[i] end
  return out
end
local function add(sum, list, factor)
  for i = 1, D do sum[i] = sum[i] + factor * list[i] end
end
local function fits(list, room)
  for i = 1, D do if list[i] > room[i] + SLACK then return false end end
  return true
end
local function isNothing(list)
  for i = 1, D do if list[i] > SLACK then return false end end
  return true
end
local function sizeOf(list, limits)
  local most = 0
  for i = 1, D do most = max(most, list[i] / limits[i]) end
  return most
end
local packed = call('HGET', main, 's')
local s = packed and unpack(packed)
if s and now < s.at - BACK_MS then
  call('DEL', main, agents, line, due)
  s = nil
end
if not s then
  s = { stamp = 0, at = 0, expectBy = 0, learnUntil = 0, limits = r.limits, limitsAt = -1e15, held = zeros(), members = 0,
    weights = 0, virtualTime = 0, orders = 0, ahead = zeros(), aheadAt = 0, isStore = false, sum = zeros(), first = 0, slots = 0,
    silent = 0, ttlAt = 0 }
end
now = max(now, s.at)
if (now > s.expectBy or r.stamp > s.stamp) and now >= s.learnUntil then s.learnUntil = now + LEARN * H end
s.stamp = max(s.stamp, r.stamp) + 1
s.at = now
s.expectBy = max(s.expectBy, now + LEARN * r.nextMs)
local isLearning = now < s.learnUntil
local slotMs = W / SLOTS
local function field(slot) return format('u%.0f', slot) end
local function use(at, list, factor)
  local isZero = true
  for i = 1, D do if list[i] ~= 0 then isZero = false end end
  local slot = floor(at / slotMs)
  if isZero or (slot + 1) * slotMs + W <= now then return end
  local known = call('HGET', main, field(slot))
  if known then known = unpack(known) else
    known = zeros()
    s.first = s.slots == 0 and slot or min(s.first, slot)
    s.slots = s.slots + 1
  end
  add(known, list, factor)
  add(s.sum, list, factor)
  call('HSET', main, field(slot), pack(known))
end
local function spread(most, bins)
  local left = copy(most)
  for b = 1, #bins do
    local part = {}
    for i = 1, D do part[i] = max(0, min(left[i], bins[b][i])) end
    use(now - ((b - 1) * W) / BINS, part, 1)
    add(left, part, -1)
  end
end
local function binnedUsage()
  local bins = {}
  for b = 1, BINS do bins[b] = zeros() end
  for slot = s.first, s.slots > 0 and floor(now / slotMs) or s.first - 1 do
    local known = call('HGET', main, field(slot))
    if known then
      local bin = floor((now - (slot + 1) * slotMs) * BINS / W)
      add(bins[min(BINS, max(1, bin + 1))], unpack(known), 1)
    end
  end
  for b = 1, BINS do bins[b] = nums(bins[b]) end
  return table.concat(bins, ',')
end
while s.slots > 0 and (s.first + 1) * slotMs + W <= now do
  local gone = call('HGET', main, field(s.first))
  if gone then
    add(s.sum, unpack(gone), -1)
    call('HDEL', main, field(s.first))
    s.slots = s.slots - 1
  end
  s.first = s.first + 1
end
if s.slots == 0 then s.sum = zeros() end
local rows = {}
local function rowOf(id)
  local row = rows[id]
  if row == nil then
    local text = call('HGET', agents, id)
    row = false
    if text then
      local a = unpack(text)
      row = { id = id, incarnation = a[1], sequence = a[2], at = a[3], nextMs = a[4], weight = a[5],
        virtualTime = a[6], state = a[7], place = a[8] or nil, placeVirtualTime = a[9], sent = a[10], back = a[11],
        allowed = a[12], told = a[13], used = a[14],
        fair = a[15], next = a[16], all = a[17], heldAt = a[18] or nil }
    end
    rows[id] = row
  end
  return row
end
local function packRow(row)
  return pack({ row.incarnation, row.sequence, row.at, row.nextMs, row.weight, row.virtualTime, row.state,
    row.place or false, row.placeVirtualTime or 0, row.sent, row.back, row.allowed, row.told, row.used, row.fair, row.next,
    row.all, row.heldAt or false })
end
local function forget(row)
  rows[row.id] = false
  call('HDEL', agents, row.id)
  call('ZREM', due, row.id)
end
local function hold(row)
  local list = {}
  for i = 1, D do list[i] = max(0, row.allowed[i] - row.sent[i]) end
  return list
end
local function want(row)
  local list = {}
  for i = 1, D do list[i] = max(0, row.sent[i] + row.all[i] - row.allowed[i]) end
  return list
end
local buckets = s.silent > 0 and unpack(call('HGET', main, 'b')) or {}
local isSilenceNew = false
local function silence(row, factor)
  local key = format('%.0f', floor(row.at / 1000))
  local bucket = buckets[key]
  if not bucket then
    if factor < 0 then return end
    bucket = { used = zeros(), from = zeros(), to = zeros() }
    buckets[key] = bucket
    s.silent = s.silent + 1
  end
  add(bucket.used, row.used, factor)
  add(bucket.from, row.used, factor)
  add(bucket.from, hold(row), factor)
  add(bucket.to, row.fair, factor)
  isSilenceNew = true
end
local function trust(ms)
  if ms <= 25000 then return 1 end
  return ms >= 35000 and 0 or 0.5 ^ ((ms - 25000) / 5000)
end
local waiting = call('ZCARD', line)
local function leave(row)
  row.isChanged = true
  if row.place then
    call('ZREM', line, row.place)
    row.place = nil
    waiting = waiting - 1
  end
  if waiting == 0 then s.lineSince = nil end
end
local function joinOrLeave(row, isStaying)
  if row.state ~= 'live' or isNothing(want(row)) then
    leave(row)
  elseif not row.place then
    s.orders = s.orders + 1
    row.isChanged = true
    row.place = format('%016.0f:%s', s.orders, row.id)
    row.placeVirtualTime = isStaying and row.virtualTime or max(row.virtualTime, s.virtualTime)
    call('ZADD', line, num(row.placeVirtualTime), row.place)
    waiting = waiting + 1
    if not s.lineSince then s.lineSince = now end
  end
end
for _, id in ipairs(call('ZRANGEBYSCORE', due, '-inf', num(now), 'LIMIT', 0, MOST_SWEPT)) do
  local row = rowOf(id)
  if not row then
    call('ZREM', due, id)
  elseif row.state == 'live' then
    leave(row)
    silence(row, 1)
    row.state = 'silent'
    s.members = s.members - 1
    s.weights = s.weights - row.weight
    add(s.held, hold(row), -1)
    call('ZADD', due, num(row.at + forgetMs), id)
  else
    if row.state == 'silent' then silence(row, -1) end
    forget(row)
  end
end
local row = rowOf(r.agentId)
local isNews, failure = true, nil
if row then
  if r.life < row.incarnation or (r.life == row.incarnation and row.state == 'left') then
    failure = 'a later incarnation of this agent has reported'
  elseif r.life > row.incarnation then
    if row.state == 'silent' then silence(row, -1) end
    if row.state == 'live' then
      use(row.heldAt or now, hold(row), 1)
      add(s.held, hold(row), -1)
      s.members = s.members - 1
      s.weights = s.weights - row.weight
      leave(row)
    end
    forget(row)
    row = nil
  elseif r.sequence <= row.sequence then
    isNews = false
  end
end
local journal = r.journal ~= cjson.null and r.journal or nil
if isNews and not failure then
  local endsMs = r.endsMs ~= cjson.null and r.endsMs or nil
  if not row then
    local all = {}
    for i = 1, D do all[i] = math.huge end
    if not endsMs then spread(all, r.bins) end
    row = { id = r.agentId, incarnation = r.life, state = 'live', virtualTime = 0, fair = zeros(), told = zeros(), allowed = {} }
    for i = 1, D do row.allowed[i] = isLearning and max(r.sent[i], r.allowed[i]) or r.sent[i] end
    s.members = s.members + 1
    s.weights = s.weights + r.weight
    rows[row.id] = row
  else
    local sent, back, net = {}, {}, {}
    for i = 1, D do
      sent[i] = max(0, r.sent[i] - row.sent[i])
      back[i] = max(0, r.back[i] - row.back[i])
      net[i] = max(0, sent[i] - back[i])
    end
    local silentMs = now - row.at
    if endsMs then
      if row.heldAt then use(row.heldAt, row.used, -1) end
    elseif silentMs > 2 * row.nextMs then
      spread(net, r.bins)
    else
      use(now - min(max(0, r.sentAgoMs), silentMs), sent, 1)
      use(now - max(0, r.backAgoMs), back, -1)
    end
    if row.state == 'silent' then
      silence(row, -1)
      row.state = 'live'
      s.members = s.members + 1
      s.weights = s.weights + row.weight
      add(s.held, hold(row), 1)
    end
    add(s.held, hold(row), -1)
    for i = 1, D do row.allowed[i] = row.allowed[i] - max(0, row.told[i] - r.allowed[i]) end
    s.weights = s.weights + r.weight - row.weight
  end
  row.isChanged = true
  if s.blocked and s.blocked.place == row.place then s.blocked = nil end
  row.sequence, row.at, row.nextMs, row.weight = r.sequence, now, r.nextMs, r.weight
  row.sent, row.back, row.next, row.all, row.used = r.sent, r.back, r.next, r.all, zeros()
  for b = 1, #r.bins do add(row.used, r.bins[b], 1) end
  if endsMs then
    row.heldAt = now + endsMs - W
    use(row.heldAt, row.used, 1)
  end
  for i = 1, D do row.allowed[i] = r.bye and r.sent[i] or max(r.sent[i], row.allowed[i]) end
  add(s.held, hold(row), 1)
  if r.bye then
    row.state = 'left'
    s.members = s.members - 1
    s.weights = s.weights - row.weight
  end
  call('ZADD', due, num(r.bye and now + forgetMs or now + LEARN * r.nextMs), row.id)
  joinOrLeave(row)
  local isOld, isLess, isSame = now - s.limitsAt > FORGET_LIMITS * H, false, true
  for i = 1, D do if r.limits[i] < s.limits[i] then isLess = true end end
  if isOld then s.limits = copy(r.limits) end
  for i = 1, D do
    s.limits[i] = min(s.limits[i], r.limits[i])
    if r.limits[i] ~= s.limits[i] then isSame = false end
  end
  if isOld or isLess or isSame then s.limitsAt = now end
  local l = r.level
  if l and l ~= cjson.null then
    l.cutAt, l.pausedAt, l.cutAgoMs, l.pausedAgoMs = now - l.cutAgoMs, now - l.pausedAgoMs, nil, nil
    local k = s.level
    local order = 1
    if k then
      order = l.epoch - k.epoch
      if order == 0 then order = k.levelAtCut - l.levelAtCut end
      if order == 0 then order = l.pauseCount - k.pauseCount end
      if order == 0 then order = l.pauseMs - k.pauseMs end
      if order == 0 and l.tie ~= k.tie then order = tonumber(l.tie, 16) - tonumber(k.tie, 16) end
    end
    if order > 0 then s.level = l
    elseif order == 0 then k.cutAt, k.pausedAt = min(k.cutAt, l.cutAt), min(k.pausedAt, l.pausedAt) end
  end
end
local answer = { time[1], time[2], failure or '' }
if not failure then
  local level, part = s.level, 1
  if level then
    part = min(level.levelMax, level.levelAtCut * level.recoveryFactor ^ floor(max(0, now - level.cutAt) / level.recoveryIntervalMs))
  end
  local capacity = {}
  for i = 1, D do
    local limit = s.limits[i]
    local spared = s.members > 1 and floor(limit * r.headroom) or 0
    capacity[i] = max((limit - spared) * part, limit * r.least)
  end
  local kept = zeros()
  if s.silent > 0 then
    for key, bucket in pairs(buckets) do
      local ageMs = now - tonumber(key) * 1000
      local trusted, way = trust(ageMs - W), min(1, ageMs / W)
      for i = 1, D do
        local may = bucket.from[i] + (bucket.to[i] - bucket.from[i]) * way
        kept[i] = kept[i] + max(0, may * trusted - bucket.used[i] * (1 - way))
      end
      if trusted == 0 then
        buckets[key] = nil
        s.silent = s.silent - 1
        isSilenceNew = true
      end
    end
  end
  local function usedNow()
    local list = {}
    for i = 1, D do list[i] = s.sum[i] + s.held[i] + kept[i] end
    return list
  end
  if isLearning and s.lineSince then s.lineSince = now end
  local allowed = row.allowed
  local isPaused = level and now < level.pausedAt + level.pauseMs
  if not journal and not isLearning and isNews and row.state == 'live' and not isPaused then
    local room, used = {}, usedNow()
    for i = 1, D do room[i] = capacity[i] - used[i] end
    local elapsedMs = max(0, now - s.aheadAt)
    for i = 1, D do s.ahead[i] = max(0, s.ahead[i] - elapsedMs * PACE * capacity[i] / W) end
    s.aheadAt = now
    local isContended = (not r.endsMs or r.endsMs == cjson.null) and s.lineSince and now - s.lineSince > CONTENDED * H
    for served = 0, MOST_SERVED - 1 do
      local place = waiting > 0 and call('ZRANGE', line, 0, 0)[1]
      if not place then break end
      local blocked = s.blocked
      if blocked and blocked.place == place and not fits(blocked.need, room) then break end
      local one = rowOf(string.sub(place, 18))
      if not one then
        call('ZREM', line, place)
        waiting = waiting - 1
      elseif not fits(one.next, capacity) then
        leave(one)
      else
        local wanted, need = want(one), {}
        for i = 1, D do need[i] = max(0, one.sent[i] + one.next[i] - one.allowed[i]) end
        if isNothing(need) then for i = 1, D do need[i] = min(wanted[i], one.next[i]) end end
        local isShort = not fits(need, room)
        local isStop = isShort or (served > 0 and waiting == 1)
        s.blocked = isShort and { place = place, need = need } or nil
        if isContended then
          for i = 1, D do
            local lead = PACE * capacity[i] * H / W
            if need[i] <= lead and s.ahead[i] > lead then isStop = true end
          end
        end
        if isStop then break end
        local share, grant = one.weight * s.members / (s.weights * waiting), {}
        for i = 1, D do
          local free = max(capacity[i] * H / W, isContended and 0 or 0.5 * room[i])
          local next = one.next[i]
          local quantum = next > 0 and floor(free * share / next) * next or 0
          grant[i] = max(need[i], min(wanted[i], quantum, room[i]))
        end
        if isNothing(grant) then
          leave(one)
        else
          add(one.allowed, grant, 1)
          add(s.held, grant, 1)
          add(s.ahead, grant, 1)
          add(room, grant, -1)
          local debt = max(DEBT / s.weights, sizeOf(one.next, s.limits) / one.weight)
          local size = sizeOf(grant, s.limits)
          one.virtualTime = one.placeVirtualTime + min(size / one.weight, debt)
          s.virtualTime = max(s.virtualTime, min(one.virtualTime, one.placeVirtualTime + size * s.members / s.weights))
          local since = s.lineSince
          leave(one)
          joinOrLeave(one, true)
          if s.lineSince then s.lineSince = since end
        end
      end
    end
    local held, lent, isLent = hold(row), {}, waiting == 0
    for i = 1, D do
      lent[i] = floor(max(0, room[i] + held[i]) * (0.5 * row.weight) / s.weights)
      if lent[i] < 1 then isLent = false end
    end
    allowed = {}
    for i = 1, D do
      if not isLent then lent[i] = 0 end
      local keep = row.sent[i] + max(row.all[i], lent[i])
      if keep <= row.allowed[i] then allowed[i] = keep else
        local more = max(0, min(row.sent[i] + lent[i] - row.allowed[i], room[i]))
        row.allowed[i] = row.allowed[i] + more
        s.held[i] = s.held[i] + more
        allowed[i] = row.allowed[i]
      end
    end
  end
  if isNews then row.told = copy(row.allowed) end
  local used, held, fair = usedNow(), hold(row), {}
  local ownPart = s.weights > 0 and row.weight / s.weights or 0
  for i = 1, D do
    local own = row.used[i] + held[i]
    fair[i] = own * (used[i] > capacity[i] and capacity[i] / used[i] or 1) + max(0, capacity[i] - used[i]) * ownPart
  end
  if not journal and isNews and row.state == 'live' then row.fair = fair end
  local crowd = r.crowd
  if crowd and crowd ~= cjson.null then
    if isLearning then s.isStore = s.isStore or crowd.isStore
    else s.isStore = s.members > (s.isStore and crowd.below - 1 or crowd.above) end
  end
  answer[4], answer[5], answer[6], answer[7] = num(s.stamp), isLearning and '1' or '0', num(s.members), num(s.weights)
  answer[8] = s.isStore and '1' or '0'
  answer[9], answer[10], answer[11] = nums(s.limits), nums(capacity), nums(used)
  answer[12], answer[13] = nums(allowed), nums(fair)
  answer[14] = journal and journal.isAsking and binnedUsage() or ''
  if level then
    local parts = { level.epoch, level.levelAtCut, level.pauseCount, level.pauseMs, level.recoveryFactor, level.recoveryIntervalMs,
      level.levelMax, now - level.cutAt, now - level.pausedAt }
    for i = 1, #parts do parts[i] = num(parts[i]) end
    answer[15], answer[16] = table.concat(parts, ' '), level.tie
    answer[17], answer[18] = level.origin, level.reason
  end
end
for id, one in pairs(rows) do
  if one and one.isChanged then call('HSET', agents, id, packRow(one)) end
end
if isSilenceNew then call('HSET', main, 'b', pack(buckets)) end
local isDue = now >= s.ttlAt
if isDue then s.ttlAt = now + 10000 end
call('HSET', main, 's', pack(s))
if isDue then
  for i = 1, 4 do call('PEXPIRE', KEYS[i], format('%.0f', 2 * W + 600000)) end
end
return answer
`;

export const SYNC_LUA = `
local call, pcall, match, format = redis.call, redis.pcall, string.match, string.format
local COUNTS = '^(%d+) (%d+) (%d+)$'
local time = call('TIME')
local windowMs, field, last, ttlMs = tonumber(ARGV[1]), ARGV[3], ARGV[4], ARGV[5]
local sequence = tonumber(last)
local present = format('%.0f', math.floor((time[1] * 1000 + time[2] / 1000) / windowMs))
local changed = ARGV[2] == present and (#ARGV - 5) / 2 or 0
local answer = { time[1], time[2] }
for i = 1, #KEYS do
  local key = KEYS[i]
  local seen = pcall('HMGET', key, 'window', 'total', field)
  if seen.err then
    answer[i + 2] = '!' .. seen.err
  else
    local total, own = seen[2], seen[3]
    local requests, tokens, agents, ownRequests, ownTokens, before
    if seen[1] == present and total then requests, tokens, agents = match(total, COUNTS) end
    if agents and own then
      ownRequests, ownTokens, before = match(own, COUNTS)
      if not before then agents = nil end
    end
    if not agents then total, own = '0 0 0', nil end
    if i <= changed and (not before or sequence > tonumber(before)) then
      local newRequests, newTokens = ARGV[4 + 2 * i], ARGV[5 + 2 * i]
      own = newRequests .. ' ' .. newTokens .. ' ' .. last
      if before then
        total = format('%d %d %s', requests + newRequests - ownRequests, tokens + newTokens - ownTokens, agents)
      elseif agents then
        total = format('%d %d %d', requests + newRequests, tokens + newTokens, agents + 1)
      else
        total = newRequests .. ' ' .. newTokens .. ' 1'
        call('DEL', key)
        call('HSET', key, 'window', present)
      end
      call('HSET', key, 'total', total, field, own)
      if not agents then call('PEXPIRE', key, ttlMs) end
    end
    answer[i + 2] = own and total .. ' ' .. own or total
  end
end
return answer
`;
