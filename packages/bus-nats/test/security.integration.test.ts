import { describeOwnServer } from "@hivepace/servers/vitest";
import { bytes, listen, selfSigned, until } from "@hivepace/test-kit";
import * as transport from "@nats-io/transport-node";
import * as nats from "nats";
import { expect, test } from "vitest";
import { type NatsConnectionLike, type NatsOptions, natsBus } from "../src/index.ts";
import { opened, warnings } from "./support/help.ts";

async function roundTrip(options: NatsOptions): Promise<void> {
  const bus = await opened(natsBus(options));
  const heard = await listen(bus, "secret");
  await bus.publish("secret", bytes("x"));
  await until(() => heard.length === 1, "the message arrives");
}

const refused = { code: "BUS_UNAVAILABLE", message: expect.stringMatching(/refused the credentials/) };

describeOwnServer(
  "nats",
  (server) => {
    test("a token passes through", () => roundTrip({ servers: server().url, token: "right" }));

    test.each([{}, { token: "wrong" }, { user: "a", pass: "b" }])(
      "refused credentials reject at once, even with waitForBroker: %j",
      async (credentials) => {
        const options = { servers: server().url, ...credentials };
        await expect(natsBus(options)).rejects.toMatchObject(refused);
        await expect(natsBus({ ...options, waitForBroker: true })).rejects.toMatchObject(refused);
      },
    );

    test("with waitForBroker, credentials refused by a server that starts later close the bus with a warning", async () => {
      const seen = warnings();
      await server().kill();
      const bus = await opened(natsBus({ servers: server().url, token: "wrong", waitForBroker: true }));
      expect(bus.state).toBe("connecting");
      const waiting = expect(listen(bus, "a")).rejects.toMatchObject({ code: "BUS_CLOSED" });
      await server().start();
      await until(() => bus.state === "closed", "the bus closes");
      await waiting;
      await until(() => seen.length > 0, "a warning is emitted");
      expect(seen).toEqual([expect.stringMatching(/^HIVEPACE_BUS_LOST: .*authorization violation/i)]);
    });
  },
  { config: "authorization { token: right }" },
);

describeOwnServer(
  "nats",
  (server) => {
    const credentials = { user: "agent", pass: "right" };

    test("user and password pass through", () => roundTrip({ servers: server().url, ...credentials }));

    test.each([
      ["nats 2", nats.connect],
      ["transport-node 3", transport.connect],
    ])(
      "a forbidden subject rejects publish and subscribe, and does not affect other subjects: %s",
      async (_, connect) => {
        const connection = await opened<NatsConnectionLike>(connect({ servers: server().url, ...credentials }));
        const bus = await opened(natsBus(connection));
        const heard = await listen(bus, "secret");
        const outcomes = await Promise.allSettled([
          bus.publish("secret", bytes("1")),
          bus.publish("forbidden", bytes("2")),
          bus.publish("forbidden", bytes("3")),
          bus.publish("secret", bytes("4")),
          bus.subscribe("forbidden", () => {}),
        ]);
        expect(outcomes.map(({ status }) => status)).toEqual([
          "fulfilled",
          "rejected",
          "rejected",
          "fulfilled",
          "rejected",
        ]);
        for (const outcome of outcomes)
          if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "BUS_UNAVAILABLE" });
        await until(() => heard.length === 2, "the others arrive");
        expect(bus.state).toBe("ready");
        await bus.publish("secret", bytes("5"));
      },
    );
  },
  {
    config: `authorization { users = [ { user: agent, password: right, permissions: {
      publish: { deny: "forbidden" }, subscribe: { deny: "forbidden" } } } ] }`,
  },
);

const user = nats.nkeys.createUser();
const seed = new TextDecoder().decode(user.getSeed());
const stranger = new TextDecoder().decode(nats.nkeys.createUser().getSeed());

describeOwnServer(
  "nats",
  (server) => {
    test("an NKEY passes through, as a seed or as an authenticator of either client", async () => {
      const servers = server().url;
      await roundTrip({ servers, nkey: seed });
      await roundTrip({ servers, authenticator: transport.nkeyAuthenticator(bytes(seed)) });
      await roundTrip({ servers, authenticator: [nats.nkeyAuthenticator(bytes(seed))] });
      await expect(natsBus({ servers, nkey: stranger })).rejects.toMatchObject(refused);
    });
  },
  { config: `authorization { users = [ { nkey: ${user.getPublicKey()} } ] }` },
);

const { cert: ca, key } = await selfSigned();

describeOwnServer(
  "nats",
  (server) => {
    test("TLS options pass through, and an untrusted certificate is rejected", async () => {
      const servers = server().url;
      await roundTrip({ servers, tls: { ca } });
      await expect(natsBus({ servers, tls: {} })).rejects.toMatchObject({
        code: "BUS_UNAVAILABLE",
        message: expect.stringMatching(/self-signed certificate/),
      });
    });
  },
  { config: "tls { cert_file: cert.pem, key_file: key.pem }", files: { "cert.pem": ca, "key.pem": key } },
);
