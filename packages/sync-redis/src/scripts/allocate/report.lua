-- Applies the report to the row of its agent, to the usage window, and to the totals of the swarm.
-- With `endsMs` the limit is on calls in flight. An agent's calls count at a single time in the window, which moves with
-- every report and leaves the window once all of the calls have ended.

local endsMs = r.endsMs ~= cjson.null and r.endsMs or nil

if not row then
  local all = {}
  for i = 1, D do all[i] = math.huge end
  if not endsMs then spread(all, r.bins) end
  row = { id = r.agentId, incarnation = r.life, state = 'live', virtualTime = 0, fair = zeros(), told = zeros(), allowed = {} }
  -- A store that lost its state believes the grant that an agent reports, while it learns.
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
  -- After a long silence the time of the usage is only known by bins.
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
  -- The part of the grant that the agent gave back is available again.
  for i = 1, D do row.allowed[i] = row.allowed[i] - max(0, row.told[i] - r.allowed[i]) end
  s.weights = s.weights + r.weight - row.weight
end
row.isChanged = true
-- The demand of the agent at the head of the queue may have changed, so it must be checked again.
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
-- An agent is silent after LEARN times the interval that it promised; one that left is forgotten after `forgetMs`.
call('ZADD', due, num(r.bye and now + forgetMs or now + LEARN * r.nextMs), row.id)
joinOrLeave(row)
