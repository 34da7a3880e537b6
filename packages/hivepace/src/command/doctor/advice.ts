const ADVICE: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [/not installed|npm install/i, "install it where you run this command, with the line above"],
  [
    /credentials|authorization|authentication|WRONGPASS|NOAUTH|SASL|invalid password|user is disabled/i,
    "check the user and the password in the address: scheme://user:password@host:port",
  ],
  [/ENOTFOUND|EAI_AGAIN/, "that host name is not known here: check it, and the name server"],
  [
    /certificate|self-signed|TLS|SSL|EPROTO/i,
    "the broker and the address disagree on TLS: tls://, rediss://, and its certificates",
  ],
  [
    /ECONNREFUSED|CONNECTION_REFUSED|connection refused/i,
    "nothing listens there: is the broker running, and is it that host and port?",
  ],
  [/ECONNRESET|closed|disconnect/i, "it hung up: is that the broker's own port, and does it want TLS?"],
  [
    /timeout|timed out|no answer|within/i,
    "nothing answers there: a firewall, another network? --timeout 15s waits longer",
  ],
];

/** What to do about an error of a connection. */
export function connectAdvice(message: string): string {
  return ADVICE.find(([pattern]) => pattern.test(message))?.[1] ?? "check the address, and the broker's own log";
}

const IGNORED: Readonly<Record<string, string>> = {
  unsigned: "somebody does not sign: give all of them the same secret, or none",
  forged: "somebody signs with another secret than HIVEPACE_SECRET: give all of them the same one",
  "newer version": "agents of a newer version are not understood: update hivepace here, and the older agents",
  "too large": "somebody sends more than agents ever do: who else uses these subjects?",
  "unknown resource": "announcements for a resource that no agent has: harmless, unless its name is misspelt somewhere",
};

/** Messages that agents ignore without harm, in any swarm. */
export const HARMLESS: readonly string[] = ["stale", "left", "replayed"];

export function ignoredAdvice(reason: string): string {
  return IGNORED[reason] ?? "these are no messages of agents: who else publishes on these subjects?";
}
