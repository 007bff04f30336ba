import { isObject } from '../../../platform/lib/json/json-values.ts';

const depthMax = 60;

/** Returns the plain value of an `AnyValue`. Integers that do not fit into a number stay text. Deeper values than an event may have are null. */
export function readAnyValue(value: unknown, depth = 0): unknown {
  if (!isObject(value) || depth > depthMax) return null;
  if (value['stringValue'] !== undefined) return value['stringValue'];
  if (value['boolValue'] !== undefined) return value['boolValue'];
  if (value['intValue'] !== undefined) return readInteger(value['intValue']);
  if (value['doubleValue'] !== undefined) return value['doubleValue'];
  if (value['bytesValue'] !== undefined) return value['bytesValue'];
  if (isObject(value['arrayValue']))
    return listOf(value['arrayValue']['values']).map((one) => readAnyValue(one, depth + 1));
  if (isObject(value['kvlistValue'])) return readAttributes(value['kvlistValue']['values'], depth + 1);
  return null;
}

/** Returns a list of `KeyValue` as an object, or undefined without any. */
export function readAttributes(list: unknown, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    listOf(list).flatMap((one) =>
      isObject(one) && typeof one['key'] === 'string' ? [[one['key'], readAnyValue(one['value'], depth)]] : [],
    ),
  );
}

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function readInteger(value: unknown): unknown {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
