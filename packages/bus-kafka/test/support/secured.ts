import { appendFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import type { OwnServer } from "@hivepace/servers";
import { selfSigned } from "@hivepace/test-kit";
import { ConfigResourceTypes, Kafka, logLevel } from "kafkajs";

export interface Secured {
  /** Address of a listener that requires a password. */
  readonly sasl: string;
  /** Address of a listener that requires a password over TLS. */
  readonly tls: string;
  readonly certificate: string;
}

const users = `user_admin="admin-secret" user_agent="agent-secret"`;
const jaas = `org.apache.kafka.common.security.plain.PlainLoginModule required ${users};`;

/** Adds two listeners and an authorizer to a running broker; clients of the plain listener remain superusers. */
export async function secure(server: OwnServer): Promise<Secured> {
  const { listeners, folder } = await settings(server.url);
  const [sasl, tls] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const { key, cert: certificate } = await selfSigned();
  const keyFile = join(folder, "keystore.pem");
  await writeFile(keyFile, key + certificate);
  await appendFile(
    join(folder, "server.properties"),
    `
listeners=${listeners},SASL://${sasl},TLS://${tls}
advertised.listeners=PLAINTEXT://${server.url},SASL://${sasl},TLS://${tls}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SASL_SSL
sasl.enabled.mechanisms=PLAIN
listener.name.sasl.plain.sasl.jaas.config=${jaas}
listener.name.tls.plain.sasl.jaas.config=${jaas}
listener.name.tls.ssl.keystore.type=PEM
listener.name.tls.ssl.keystore.location=${keyFile}
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS;User:admin
`,
  );
  await server.restart();
  return { sasl, tls, certificate };
}

async function settings(url: string): Promise<{ listeners: string; folder: string }> {
  const admin = new Kafka({ brokers: [url], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: ConfigResourceTypes.BROKER, name: "1", configNames: ["listeners", "log.dirs"] }],
    });
    const entries = resources[0]?.configEntries ?? [];
    const value = (name: string): string => entries.find(({ configName }) => configName === name)?.configValue ?? "";
    return { listeners: value("listeners"), folder: dirname(value("log.dirs")) };
  } finally {
    await admin.disconnect();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
