import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

/** A real SDK for traces with access to the ended spans. */
export class TestSpans {
  readonly #exporter = new InMemorySpanExporter();
  readonly provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.#exporter)] });
  readonly tracer = this.provider.getTracer("test");

  constructor() {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  }

  named(name: string): ReadableSpan[] {
    return this.#exporter.getFinishedSpans().filter((span) => span.name === name);
  }

  async close(): Promise<void> {
    context.disable();
    await this.provider.shutdown();
  }
}
