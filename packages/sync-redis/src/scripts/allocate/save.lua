-- Writes the rows that changed and the state. The time to live is renewed every ten seconds, not with every call.

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
