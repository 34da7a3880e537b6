-- Grants the available capacity in the order of the queue. Once the queue has not been empty for CONTENDED heartbeats,
-- grants follow a steady pace: `s.ahead` is how far all grants together are ahead of it. A limit on calls in flight is not
-- paced, because each call frees its capacity when it ends.

local elapsedMs = max(0, now - s.aheadAt)
for i = 1, D do s.ahead[i] = max(0, s.ahead[i] - elapsedMs * PACE * capacity[i] / W) end
s.aheadAt = now
local isContended = (not r.endsMs or r.endsMs == cjson.null) and s.lineSince and now - s.lineSince > CONTENDED * H
for served = 0, MOST_SERVED - 1 do
  local place = waiting > 0 and call('ZRANGE', line, 0, 0)[1]
  if not place then break end
  -- The agent at the head is the one that did not fit last time, and still does not fit: its row need not be read.
  local blocked = s.blocked
  if blocked and blocked.place == place and not fits(blocked.need, room) then break end
  local one = rowOf(string.sub(place, 18))
  if not one then
    call('ZREM', line, place)
    waiting = waiting - 1
  -- A call that the present level can never admit must not block the agents behind it.
  elseif not fits(one.next, capacity) then
    leave(one)
  else
    local wanted, need = want(one), {}
    for i = 1, D do need[i] = max(0, one.sent[i] + one.next[i] - one.allowed[i]) end
    if isNothing(need) then for i = 1, D do need[i] = min(wanted[i], one.next[i]) end end
    local isShort = not fits(need, room)
    -- The only agent in the queue is served once, which leaves half of the free capacity for newcomers.
    local isStop = isShort or (served > 0 and waiting == 1)
    s.blocked = isShort and { place = place, need = need } or nil
    if isContended then
      for i = 1, D do
        local lead = PACE * capacity[i] * H / W
        -- A call that is larger than one heartbeat of the pace is not held back by it.
        if need[i] <= lead and s.ahead[i] > lead then isStop = true end
      end
    end
    if isStop then break end
    -- A grant is a whole number of calls: at least the first one, at most a fair fraction of the free capacity.
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
      -- A large grant from spare capacity sets the agent back by a few fair shares, or one call, at most.
      local debt = max(DEBT / s.weights, sizeOf(one.next, s.limits) / one.weight)
      local size = sizeOf(grant, s.limits)
      one.virtualTime = one.placeVirtualTime + min(size / one.weight, debt)
      s.virtualTime = max(s.virtualTime, min(one.virtualTime, one.placeVirtualTime + size * s.members / s.weights))
      -- An agent that returns to the end of the queue does not restart the measured contention.
      local since = s.lineSince
      leave(one)
      joinOrLeave(one, true)
      if s.lineSince then s.lineSince = since end
    end
  end
end
