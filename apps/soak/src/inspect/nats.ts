import { connect } from "nats";
import type { Inspection } from "./inspect.ts";

/** The account that may query server statistics. All other clients connect without credentials. */
const WATCHER = { user: "watcher", pass: "soak" };

/** The server's configuration, which enables the system account for statistics. */
export const NATS_CONFIG = `
accounts {
  SYS { users: [{ user: "${WATCHER.user}", password: "${WATCHER.pass}" }] }
  SWARM { users: [{ user: "swarm", password: "swarm" }] }
}
system_account: SYS
no_auth_user: "swarm"
`;

interface Connections {
  readonly data: { readonly connections: readonly { readonly cid: number; readonly subscriptions: number }[] };
}

export async function inspectNats(url: string): Promise<Inspection> {
  const connection = await connect({ servers: url, ...WATCHER });
  try {
    const question = JSON.stringify({ limit: 10_000 });
    const { data } = (await connection.request("$SYS.REQ.SERVER.PING.CONNZ", question)).json<Connections>();
    const others = data.connections.filter(({ cid }) => cid !== connection.info?.client_id);
    return {
      holdings: {
        "broker connections": others.length,
        "broker subscriptions": others.reduce((sum, { subscriptions }) => sum + subscriptions, 0),
      },
      wrong: [],
    };
  } finally {
    await connection.close();
  }
}
