import { type Bound, isWithin } from "./bounds.ts";

/** A parsed message whose named fields are not validated yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** The first violation found in a message. The reasons are a fixed small set, so that they can be counted. */
export class BadMessage extends Error {
  override readonly name = "BadMessage";
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

export function parse(payload: Uint8Array): Fields {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(payload));
  } catch {
    throw new BadMessage("no JSON");
  }
  return object(value, "message");
}

export function object(value: unknown, name: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(name);
  return value as Fields;
}

export function list(value: unknown, name: string, most: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length > most) throw wrong(name);
  return value;
}

export function text(fields: Fields, name: string, longest: number, shortest = 1): string {
  const value = fields[name];
  if (typeof value !== "string" || value.length < shortest || value.length > longest) throw wrong(name);
  return value;
}

export function number(fields: Fields, name: string, bound: Bound): number {
  const value = fields[name];
  if (!isWithin(bound, value)) throw wrong(name);
  return value;
}

/** Reads an optional number. */
export function numberOr<T>(fields: Fields, name: string, absent: T, bound: Bound): number | T {
  return fields[name] === undefined ? absent : number(fields, name, bound);
}

/** The largest number of dimensions of a quota, and the longest name of one. */
export const MOST_DIMENSIONS = 8;
const LONGEST_DIMENSION = 64;

/** Reads distinct names of dimensions. */
export function dimensionNames(value: unknown, most: number): readonly string[] {
  const names = list(value, "dimensions", most);
  const isName = (name: unknown) => typeof name === "string" && name.length >= 1 && name.length <= LONGEST_DIMENSION;
  if (!names.every(isName) || new Set(names).size !== names.length) throw wrong("dimensions");
  return names as readonly string[];
}

/** Reads one amount per limit of the quota. An omitted field means that all amounts are 0. */
export function amounts(fields: Fields, name: string, length: number, bound: Bound): number[] {
  const value = fields[name];
  if (value === undefined) return new Array<number>(length).fill(0);
  return amountsOf(value, name, length, bound);
}

export function amountsOf(value: unknown, name: string, length: number, bound: Bound): number[] {
  const amounts = list(value, name, length);
  if (amounts.length !== length || !amounts.every((amount) => isWithin(bound, amount))) throw wrong(name);
  return amounts as number[];
}

export function wrong(name: string): BadMessage {
  return new BadMessage(`bad ${name}`);
}
