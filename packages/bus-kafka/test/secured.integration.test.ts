import { describeOwnServer } from "@hivepace/servers/vitest";
import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } from "kafkajs";
import { beforeAll, expect, test } from "vitest";
import { kafkaBus } from "../src/index.ts";
import { type Secured, secure } from "./support/secured.ts";
import { bytes, eventually, listen, unavailable, withAdmin } from "./support/world.ts";

const agent = { mechanism: "plain", username: "agent", password: "agent-secret" };

describeOwnServer("kafka", (server) => {
  let secured: Secured;
  beforeAll(async () => {
    secured = await secure(server());
    await withAdmin(server().url, async (admin) => {
      await admin.createTopics({ topics: [{ topic: "given", numPartitions: 1 }] });
      const allow = (resourceType: AclResourceTypes, resourceName: string, operation: AclOperationTypes) => ({
        resourceType,
        resourceName,
        operation,
        resourcePatternType: ResourcePatternTypes.PREFIXED,
        principal: "User:agent",
        host: "*",
        permissionType: AclPermissionTypes.ALLOW,
      });
      await admin.createAcls({
        acl: [
          allow(AclResourceTypes.TOPIC, "given", AclOperationTypes.READ),
          allow(AclResourceTypes.TOPIC, "given", AclOperationTypes.WRITE),
          allow(AclResourceTypes.TOPIC, "missing", AclOperationTypes.READ),
          allow(AclResourceTypes.GROUP, "agents-", AclOperationTypes.READ),
        ],
      });
    });
  });

  test("the rights to read and write the topic and to join groups of the prefix are sufficient", async () => {
    const options = {
      brokers: [secured.sasl],
      sasl: agent,
      topic: "given",
      groupPrefix: "agents-",
      connectTimeoutMs: 60_000,
    };
    await using bus = await kafkaBus(options);
    const heard = await listen(bus, "a");
    await bus.publish("a", bytes("hello"));
    await eventually(() => heard.length === 1, "the message arrives");
  });

  test("SASL through TLS works with the certificate", async () => {
    const ssl = { ca: [secured.certificate] };
    await using bus = await kafkaBus({
      ...{ brokers: [secured.tls], ssl, sasl: agent },
      ...{ topic: "given", groupPrefix: "agents-", connectTimeoutMs: 60_000 },
    });
    const heard = await listen(bus, "a");
    await bus.publish("a", bytes("hello"));
    await eventually(() => heard.length === 1, "the message arrives");
  });

  test("an untrusted certificate is reported as the cause", async () => {
    const options = { brokers: [secured.tls], ssl: true, sasl: agent, connectTimeoutMs: 1_000 };
    const error = await unavailable(kafkaBus({ ...options, topic: "given" }));
    expect(error.message).toMatch(/self-signed certificate/);
  });

  test.for([false, true])(
    "refused credentials reject, without a second try, with waitForBroker %s",
    async (waitForBroker) => {
      let logins = 0;
      const sasl = {
        mechanism: "plain",
        authenticationProvider: (args: { saslAuthenticate(request: object): Promise<unknown> }) => ({
          authenticate: async () => {
            logins++;
            const encode = () => Buffer.from("\0agent\0wrong");
            await args.saslAuthenticate({ request: { encode } }).catch((cause: Error) => {
              throw Object.assign(new Error(cause.message), {
                name: "KafkaJSSASLAuthenticationError",
                retriable: false,
              });
            });
          },
        }),
      };
      const error = await unavailable(kafkaBus({ brokers: [secured.sasl], sasl, waitForBroker }));
      expect(error.message).toMatch(/refused the credentials/);
      expect(error.cause).toBeInstanceOf(Error);
      expect(logins).toBe(1);
    },
  );

  test("a wrong password with a built-in mechanism of kafkajs is reported as refused credentials", async () => {
    const sasl = { ...agent, password: "wrong" };
    const error = await unavailable(kafkaBus({ brokers: [secured.sasl], sasl, waitForBroker: true }));
    expect(error.message).toMatch(/refused the credentials/);
  });

  test("a missing topic that the agent may not create is reported at once", async () => {
    const options = { brokers: [secured.sasl], sasl: agent, topic: "missing", groupPrefix: "agents-" };
    const error = await unavailable(kafkaBus(options));
    expect(error.message).toMatch(/missing does not exist, and the broker would not create it/);
  });

  test("a topic that the agent may not read is reported at once", async () => {
    const error = await unavailable(kafkaBus({ brokers: [secured.sasl], sasl: agent, topic: "theirs" }));
    expect(error.message).toMatch(/may not read the topic theirs|theirs does not exist/);
  });

  test("the error names a group that the agent may not join", async () => {
    const options = { brokers: [secured.sasl], sasl: agent, topic: "given", groupPrefix: "others-" };
    const error = await unavailable(kafkaBus({ ...options, joinTimeoutMs: 2_000 }));
    expect(error.message).toMatch(/cannot join the group others-/);
  });
});
