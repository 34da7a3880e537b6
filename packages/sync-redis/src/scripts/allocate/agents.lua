-- The rows of agents, one packed list for each. A row that is read twice in one call is fetched once.
--
--   incarnation, sequence      incarnation of the agent, and the number of its last report
--   at, nextMs          time of that report, and the time within which the agent promised the next
--   weight, virtualTime        weight of the agent, and its virtual time
--   state               live, silent (stopped without a goodbye) or left (said goodbye)
--   place, placeVirtualTime    member and score in the queue, while the agent waits
--   sent, back          totals of usage and of refunded usage in this incarnation
--   allowed, told       total that `sent` may reach, and the value of it that the agent was last told
--   used                usage in the agent's own last window
--   fair                what the agent may use in a window if it hears nothing more
--   heldAt              time in the window at which calls in flight count, for a limit on concurrency; false otherwise
--   next, all           cost of the first waiting call, and of all waiting calls

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
-- A list packs faster than a table with names.
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
-- The part of its grant that the agent has not used.
local function hold(row)
  local list = {}
  for i = 1, D do list[i] = max(0, row.allowed[i] - row.sent[i]) end
  return list
end
-- The demand of the agent beyond its grant.
local function want(row)
  local list = {}
  for i = 1, D do list[i] = max(0, row.sent[i] + row.all[i] - row.allowed[i]) end
  return list
end
