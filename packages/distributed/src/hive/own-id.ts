import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { LONGEST_ID } from "../wire/subjects.ts";

/**
 * Variables that name this instance of a program, in order of preference: of users, of Kubernetes by convention, of Azure
 * Container Apps, Fly.io, Railway, Render and Nomad, and of containers.
 */
const VARIABLES = [
  "AGENT_ID",
  "POD_NAME",
  "CONTAINER_APP_REPLICA_NAME",
  "FLY_MACHINE_ID",
  "RAILWAY_REPLICA_ID",
  "RENDER_INSTANCE_ID",
  "NOMAD_ALLOC_ID",
  "HOSTNAME",
] as const;
/** The name of hosts that have none of their own. */
const UNNAMED = "localhost";
/** Bounds the search for a free place. More hives with one name get random ids. */
const MOST_PLACES = 1_000;

/** The parts of the machine that an id depends on. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hostname: () => string;
  /** The program and its user, as any text that differs between the services of a host. */
  readonly program: string;
  /** Directory in which the processes of the machine mark the ids that they use. */
  readonly folder: string;
  /** Names a running process so that no earlier or later one has the same name; undefined when it does not run. */
  readonly processOf: (pid: number) => string | undefined;
}

/** An agent id in use. */
export interface OwnId {
  readonly id: string;
  release(): void;
}

/**
 * Takes an id that a restarted process gets again: the name of the pod, instance or host, and for further hives on the same
 * machine the name with the lowest free number. Peers recognise a restart by it, and hold no capacity free for the process
 * that ended. Where the platform offers no name, or files cannot be written, the id is random.
 */
export function takeOwnId(machine: Machine = thisMachine()): OwnId {
  const name = nameOf(machine);
  if (name === undefined) return randomId("host");
  try {
    return takePlace(name, machine) ?? randomId(name);
  } catch {
    // Read-only file systems, and runtimes that deny access to files.
    return randomId(name);
  }
}

/** The name of this instance. A host has several services, which may not see each other's files. */
function nameOf({ env, hostname, program }: Machine): string | undefined {
  try {
    for (const variable of VARIABLES) {
      const name = env[variable]?.trim();
      if (name && name !== UNNAMED) return name.slice(0, LONGEST_ID - 40);
    }
    const host = hostname();
    if (!host || host === UNNAMED) return undefined;
    return `${host.slice(0, LONGEST_ID - 40)}-${createHash("sha256").update(program).digest("hex").slice(0, 4)}`;
  } catch {
    // Deno denies variables and the host name without a permission.
    return undefined;
  }
}

function randomId(name: string): OwnId {
  return { id: `${name}-${process.pid}-${randomBytes(4).toString("hex")}`, release() {} };
}

/**
 * Takes the first place of a name that no running process holds. A file named by place and generation marks a place, and
 * its text names the holder. A place whose holder has ended is taken by creating the next generation, which only one
 * process can.
 */
function takePlace(name: string, machine: Machine): OwnId | undefined {
  const { folder, processOf } = machine;
  const self = processOf(process.pid);
  if (self === undefined) return undefined;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const prefix = `${encodeURIComponent(name)}@`;
  for (let place = 1; place <= MOST_PLACES; place++) {
    const [latest = 0, ...outdated] = generationsOf(folder, `${prefix}${place}.`);
    const path = (generation: number) => join(folder, `${prefix}${place}.${generation}`);
    if (latest > 0 && isHeld(path(latest), processOf)) continue;
    const mine = path(latest + 1);
    try {
      writeFileSync(mine, self, { flag: "wx", mode: 0o600 });
    } catch (error) {
      // Another process took the place meanwhile.
      if ((error as { code?: unknown }).code === "EEXIST") continue;
      throw error;
    }
    for (const generation of latest > 0 ? [latest, ...outdated] : []) remove(path(generation));
    let isReleased = false;
    const release = (): void => {
      if (!isReleased) remove(mine);
      isReleased = true;
    };
    return { id: place === 1 ? name : `${name}-${place}`, release };
  }
  return undefined;
}

/** The generations of a place, latest first. */
function generationsOf(folder: string, prefix: string): number[] {
  return readdirSync(folder)
    .filter((file) => file.startsWith(prefix))
    .map((file) => Number(file.slice(prefix.length)))
    .filter((generation) => Number.isSafeInteger(generation) && generation > 0)
    .sort((a, b) => b - a);
}

/** True while the process runs that a file names. */
function isHeld(path: string, processOf: Machine["processOf"]): boolean {
  try {
    const holder = readFileSync(path, "utf8");
    // A file without text is being written.
    return holder === "" || processOf(Number.parseInt(holder, 10)) === holder;
  } catch {
    return false;
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Another process has removed the file, or the folder is gone.
  }
}

function thisMachine(): Machine {
  const user = process.getuid?.() ?? "user";
  return {
    env: process.env,
    hostname,
    program: `${user} ${process.argv[1] ?? ""}`,
    folder: join(tmpdir(), `hivepace-agents-${user}`),
    processOf: runningProcess,
  };
}

/**
 * The process id and, on Linux, the time of its start: a container that restarts gives its processes the same ids again.
 */
function runningProcess(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid < 1) return undefined;
  if (process.platform === "linux") {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      // The name of the program, in parentheses, may contain spaces. The start is the twentieth field after it.
      const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
      return `${pid} ${started}`;
    } catch {
      return undefined;
    }
  }
  try {
    process.kill(pid, 0);
    return String(pid);
  } catch (error) {
    return (error as { code?: unknown }).code === "EPERM" ? String(pid) : undefined;
  }
}
