-- Has wrk post messages, each another one, in turn. They stand in the file that MESSAGES names: the length of
-- each in a line of its own, then the message.
local requests = {}
local at = 0

function init()
  local file = assert(io.open(os.getenv("MESSAGES"), "rb"))
  local headers = { ["Content-Type"] = "message/rfc822" }
  local length = file:read("*n")
  while length do
    file:read(1)
    requests[#requests + 1] = wrk.format("POST", "/v1/check", headers, file:read(length))
    length = file:read("*n")
  end
  file:close()
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  io.write(string.format("%d answers, %d of them no 200, %d broken connections\n", summary.requests,
    summary.errors.status, summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
