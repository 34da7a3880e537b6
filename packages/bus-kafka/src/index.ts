export type {
  KafkaAdmin,
  KafkaBatch,
  KafkaClient,
  KafkaConsumer,
  KafkaEvent,
  KafkaPart,
  KafkaProducer,
} from "./client.ts";
export { kafkaBus } from "./kafka-bus.ts";
export { kafkaSupports } from "./kafka-driver.ts";
export type { KafkaBusOptions, KafkaConnection, KafkaSasl } from "./options.ts";
