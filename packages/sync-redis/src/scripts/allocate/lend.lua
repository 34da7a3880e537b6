-- Lends capacity in advance while the queue is empty: up to the agent's weighted part of half of the free capacity, so that a
-- call need not wait for the next report. Otherwise asks the agent to give back what it does not want (`allowed` in the
-- reply is then below `row.allowed`).

local held, lent, isLent = hold(row), {}, waiting == 0
for i = 1, D do
  -- Whole amounts: fractions of a very large limit would leave rounding errors as large as a call.
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
