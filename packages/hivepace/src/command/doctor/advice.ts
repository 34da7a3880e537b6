const ADVICE: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [/not installed|npm install/i, "install it where you run this command, with the command above"],
  [
    /credentials|authorization|authentication|WRONGPASS|NOAUTH|SASL|invalid password|user is disabled/i,
    "check the user and the password in the address: scheme://user:password@host:port",
  ],
  [/ENOTFOUND|EAI_AGAIN/, "this machine cannot resolve the host name: check the name and the DNS server"],
  [
    /certificate|self-signed|TLS|SSL|EPROTO/i,
    "the broker and the address disagree on TLS: tls://, rediss://, and its certificates",
  ],
  [
    /ECONNREFUSED|CONNECTION_REFUSED|connection refused/i,
    "nothing listens there: check that the broker runs, and its host and port",
  ],
  [/ECONNRESET|closed|disconnect/i, "the server closed the connection: check the port, and whether it requires TLS"],
  [
    /timeout|timed out|no answer|within/i,
    "nothing answers there: check firewalls and the network; --timeout 15s waits longer",
  ],
];

/** Returns advice for an error of a connection. */
export function connectAdvice(message: string): string {
  return ADVICE.find(([pattern]) => pattern.test(message))?.[1] ?? "check the address, and the broker's own log";
}

const IGNORED: Readonly<Record<string, string>> = {
  unsigned: "an agent does not sign its messages: give all agents the same secret, or none",
  forged: "an agent signs with another secret than HIVEPACE_SECRET: give all agents the same one",
  "newer version": "messages of a newer version are not understood: update hivepace here, and the older agents",
  "too large": "a message is larger than any agent sends: check for other publishers on these subjects",
  "unknown resource": "announcements for a resource that no agent has: harmless, unless the name is misspelt",
};

/** Reasons for ignored messages that occur in every swarm and indicate no problem. */
export const HARMLESS: readonly string[] = ["stale", "left", "replayed"];

export function ignoredAdvice(reason: string): string {
  return IGNORED[reason] ?? "these are not messages of agents: check for other publishers on these subjects";
}
