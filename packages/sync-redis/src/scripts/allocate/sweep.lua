-- Handles agents whose deadline has passed: live agents become silent, silent and departed ones are forgotten. At most
-- MOST_SWEPT in one call; the following calls continue.

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
