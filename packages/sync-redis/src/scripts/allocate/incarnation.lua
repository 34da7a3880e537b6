-- Classifies the report: an earlier incarnation is rejected, a later one ends the one before, and a report that is not newer
-- than the last changes nothing (`isNews`).

local row = rowOf(r.agentId)
local isNews, failure = true, nil
if row then
  if r.life < row.incarnation or (r.life == row.incarnation and row.state == 'left') then
    failure = 'a later incarnation of this agent has reported'
  elseif r.life > row.incarnation then
    -- The ended incarnation may have used all of its grant without reporting it: the grant counts as used.
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
