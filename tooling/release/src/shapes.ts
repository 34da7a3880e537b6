/** The kinds of projects that use the packages: module systems, compilers and frameworks. */

const MAIN = `
async function main(): Promise<void> {
  const limiter = new MemoryLimiter();
  limiter.setCapacity("api", 1, 60_000);
  if (!limiter.tryAcquire("api") || limiter.tryAcquire("api")) throw new Error("the limiter does not limit");
  await limiter.close();
  const bus = "memory:shapes";
  const options = { bus, namespace: "shapes", endpoints: [{ id: "api", rpmLimit: 100 }] };
  const hives: Hive[] = await Promise.all([createHive(options), createHive(options)]);
  for (const hive of hives) (await hive.acquire({ endpoint: "api" })).done();
  try {
    await createHive({ ...options, bus: "nowhere" });
  } catch (error) {
    if (error instanceof InvalidConfigError && isHivepaceError(error, "INVALID_CONFIG")) console.log(error.option);
  }
  await Promise.all(hives.map((hive) => hive.close()));
}
`;

/** A limiter and two hives on a memory bus. Prints the option that an error names. */
export const program = `
import { createHive, type Hive, InvalidConfigError, isHivepaceError, MemoryLimiter } from "hivepace";
${MAIN}
void main();
`;

/** The output of the program in every project. */
export const PRINTED = "bus\n";

export interface Shape {
  readonly name: string;
  /** The type of the project's package.json. */
  readonly type: "module" | "commonjs";
  readonly compiler: "tsc" | "tsc6";
  readonly options: Readonly<Record<string, unknown>>;
}

export const shapes: readonly Shape[] = [
  { name: "ES modules, node16", type: "module", compiler: "tsc", options: { module: "node16" } },
  { name: "CommonJS, node16", type: "commonjs", compiler: "tsc", options: { module: "node16" } },
  { name: "ES modules, nodenext", type: "module", compiler: "tsc", options: { module: "nodenext" } },
  { name: "CommonJS, nodenext", type: "commonjs", compiler: "tsc6", options: { module: "nodenext" } },
  {
    name: "CommonJS, node10",
    type: "commonjs",
    compiler: "tsc6",
    options: { module: "commonjs", moduleResolution: "node10", ignoreDeprecations: "6.0" },
  },
];

export const jestTest = `
const { createHive, InvalidConfigError, MemoryLimiter } = require("hivepace");

test("a limiter limits", async () => {
  const limiter = new MemoryLimiter();
  limiter.setCapacity("api", 1, 60_000);
  expect([limiter.tryAcquire("api"), limiter.tryAcquire("api")]).toEqual([true, false]);
  await limiter.close();
});

test("a hive grants, and its errors are recognized", async () => {
  const options = { bus: "memory:jest", namespace: "jest", endpoints: [{ id: "api", rpmLimit: 100 }] };
  const hive = await createHive(options);
  (await hive.acquire({ endpoint: "api" })).done();
  await hive.close();
  await expect(createHive({ ...options, bus: "nowhere" })).rejects.toBeInstanceOf(InvalidConfigError);
});

test("adapters are loaded on demand", async () => {
  const options = { namespace: "jest", endpoints: [{ id: "api", rpmLimit: 100 }] };
  for (const bus of [process.env.NATS_ADDRESS, process.env.REDIS_ADDRESS]) {
    const hive = await createHive({ ...options, bus });
    (await hive.acquire({ endpoint: "api" })).done();
    await hive.close();
  }
});
`;

/** A NestJS service that owns a hive and closes it with the application. */
export const nestApp = `
import "reflect-metadata";
import { Inject, Injectable, Module, type OnApplicationShutdown } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { createHive, type Hive, InvalidConfigError, isHivepaceError, MemoryLimiter } from "hivepace";

const HIVE = Symbol("hive");
const options = { bus: "memory:nest", namespace: "nest", endpoints: [{ id: "api", rpmLimit: 100 }] };

@Injectable()
class Calls implements OnApplicationShutdown {
  constructor(@Inject(HIVE) private readonly hive: Hive) {}

  async call(): Promise<boolean> {
    const lease = await this.hive.acquire({ endpoint: "api" });
    return lease.done() === undefined;
  }

  onApplicationShutdown(): Promise<void> {
    return this.hive.close();
  }
}

@Module({ providers: [Calls, { provide: HIVE, useFactory: () => createHive(options) }] })
class AppModule {}

${MAIN}
async function bootstrap(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  if (!(await app.get(Calls).call())) throw new Error("no call");
  await app.close();
  await main();
}
void bootstrap();
`;
