export const serverKinds = ["redis", "nats", "kafka"] as const;
export const kinds = [...serverKinds, "chromium"] as const;

export type ServerKind = (typeof serverKinds)[number];
export type Kind = (typeof kinds)[number];

/** The environment variable that names an existing server or browser. */
export const addressVariable: Readonly<Record<Kind, string>> = {
  redis: "REDIS_URL",
  nats: "NATS_URL",
  kafka: "KAFKA_BROKERS",
  chromium: "CHROMIUM_PATH",
};

export const howToGet: Readonly<Record<Kind, string>> = {
  redis: "put redis-server on the PATH, or `docker compose up -d redis` and set REDIS_URL=redis://127.0.0.1:6379",
  nats: "put nats-server on the PATH, or `docker compose up -d nats` and set NATS_URL=nats://127.0.0.1:4222",
  kafka: "install Java 17 and Maven, or `docker compose up -d kafka` and set KAFKA_BROKERS=127.0.0.1:9092",
  chromium: "put chromium or google-chrome on the PATH, or set CHROMIUM_PATH to its executable",
};

export function isKind(name: string): name is Kind {
  return (kinds as readonly string[]).includes(name);
}

export function isServerKind(name: string): name is ServerKind {
  return (serverKinds as readonly string[]).includes(name);
}
