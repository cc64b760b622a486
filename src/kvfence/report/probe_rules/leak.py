"""An answer had a marker that another tenant had planted.

## What it says

A marker is 20 random characters with a keyed sign. It was sent in one tenant's prompt and came back in an answer to
another tenant. It stands in no other prompt of the receiver, and no model makes it up: the server let one request read
what another had left. One answer is enough. The finding names the length, the manner of asking, who planted it and
where, and shows the marker's first characters.

## Why it matters

What happened to a marker happens to customers' text. Status, usage and speed look right, so nothing else notices: the
incident behind kvfence went on for two weeks with status 200, and a caller found it, not a test.

## How bad

Critical, and certain of the fact. It does not say for how long it has been so, nor how often: the report's bound on the
rate is of these requests, at these lengths, under this load. Where the two tenants have the same key or organisation,
or the endpoint knows no tenants, what leaked is one request's text into another's, which is the same fault.

A marker of another campaign, or of another key of kvfence, counts too: somebody else probes or has probed there.

## In the first hour

1. **Stop it.** Take lengths from the shortest that leaked on out of service: lower the advertised context and refuse
   longer prompts with a 4xx at the gateway; or take disaggregation, or the node, out. Where it leaks at every length,
   take the endpoint out. Do not restart workers before step 2: their state is the evidence.
2. **Keep.** This report and its journal (`--journal`: every answer, with times), the command line with its seed, logs
   and metrics of router, prefill and decode from their start, versions, launch commands, `/server_info` of each worker,
   and the gateway's log of requests and answers. Stop whatever deletes them.
3. **Tell.** Who is on call for the serving stack; security and privacy (in many places a clock of 72 hours begins once
   it is known that personal data reached others: they decide, today); whoever runs the endpoint, if that is not you:
   send them the HTML report, which holds no customer's text. Tell customers nothing that is not known yet.
4. **Find the cause.** `kvfence audit` with the logs and addresses of all workers at once. KVF101, KVF102 and KVF302
   name the known ways in. Ask again with `--scenario` for the manner that leaked, to have it at will, on a copy if
   there is one.
5. **Rotate.** Every secret that can have stood in a prompt or a tool's answer since the fault can have begun: API keys,
   tokens, passwords, signed URLs; first those of callers with prompts of the lengths that leaked. What was read cannot
   be taken back: rotate before it is proved whose it was.
6. **Probe the mend.** The same command with the same seed, then one with a new seed and `--repeats 30`, before lengths
   come back.
"""

from kvfence.findings.finding import Confidence, Severity

ID = "probe-leak"
CODE = "KVF701"
SEVERITY = Severity.CRITICAL
CONFIDENCE = Confidence.HIGH
FIX = (
    "Until the cause is known, promise no more than the longest prompt that was answered rightly; "
    "`kvfence audit` the logs and addresses of the workers behind it: it names what lets text through. "
    "Tell who answers for security, keep logs and this report, rotate secrets: `kvfence explain KVF701`."
)
