-- Sends prepared requests in turn, each with a key of its own, and prints figures for the bench.
local requests, count, turn, run

function init(args)
  requests = dofile(args[1])
  count = #requests
  run = args[2]
  turn = 0
end

function request()
  turn = turn + 1
  local one = requests[turn % count + 1]
  return one[1] .. string.format("%8.8s-0000000-%015d", run, turn) .. one[2]
end

function done(summary, latency, _)
  local errors = summary.errors
  local broken = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format("bench: %d %d %d %d %f %f\n", summary.requests, summary.duration,
    errors.status, broken, latency:percentile(50), latency:percentile(99)))
end
