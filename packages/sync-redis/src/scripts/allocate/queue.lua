-- The queue of waiting agents: a sorted set by virtual time. Members begin with a growing number of fixed width, so that
-- agents with equal virtual time are served in order of arrival. `s.lineSince` is the time since when the queue has not
-- been empty.

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
-- Puts an agent that wants more into the queue, and removes one that does not. An agent that was idle starts at the
-- virtual time of the swarm: idling earns no credit. `isStaying`: the agent was served and goes on waiting.
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
