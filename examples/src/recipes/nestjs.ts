/** NestJS: the hive is a provider of a module. Nest closes it on shutdown, so that its capacity is free at once. */
import "reflect-metadata";
import { Global, Inject, Injectable, Module, type OnApplicationShutdown } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { createHive, type Hive } from "hivepace";

const HIVE = Symbol("hive");

@Global()
@Module({
  providers: [{ provide: HIVE, useFactory: () => createHive({ endpoints: [{ id: "crm", rpmLimit: 100 }] }) }],
  exports: [HIVE],
})
class HiveModule implements OnApplicationShutdown {
  @Inject(HIVE) private readonly hive!: Hive;

  async onApplicationShutdown(): Promise<void> {
    await this.hive.close({ drainMs: 10_000 });
    console.log("closed");
  }
}

@Injectable()
class Customers {
  @Inject(HIVE) private readonly hive!: Hive;

  async find(id: string): Promise<string> {
    using _lease = await this.hive.acquire({ endpoint: "crm", timeoutMs: 30_000 }); // done at the end of the block
    return `customer ${id}`; // calls the API
  }
}

@Module({ imports: [HiveModule], providers: [Customers] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
app.enableShutdownHooks();
console.log(await app.get(Customers).find("42"));
await app.close();

/* Output:
customer 42
closed
*/
