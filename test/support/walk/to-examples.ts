import type { ApiExample } from '../../../src/platform/http/app-type.ts';
import type { RecordedCall } from './call-everything.ts';

const listMax = 2;
const textMax = 600;

/** Values that the walk makes up, or that differ from run to run without a meaning. */
const replacements: [RegExp, string][] = [
  [/mark[\da-f]{12}/g, 'northmere'],
  [/mark[\da-f]{8}/g, 'northmere'],
  [/org-[\da-f]{10}/g, 'Northmere'],
  [/http:\/\/127\.0\.0\.1:\d+/g, 'https://service.northmere.example'],
  [/tcs_([A-Za-z0-9]+)_[A-Za-z0-9_-]+/g, 'tcs_$1_SECRET'],
  [/whsec_[A-Za-z0-9+/=]+/g, 'whsec_SECRET'],
  [/[Ww]alked/g, 'example'],
];

/** Returns the examples of each operation with a readable response, with lists and texts cut: first the one that says most and asks for least. */
export function toExamples(
  calls: RecordedCall[],
  operationIdOf: (call: RecordedCall) => string,
): Record<string, ApiExample[]> {
  const readable = calls.filter(({ body }) => typeof body !== 'string' || !body.includes('\0'));
  const byOperation = Map.groupBy(readable, operationIdOf);
  const entries = [...byOperation].map(([id, same]): [string, ApiExample[]] => [
    id,
    same.map(toExample).toSorted((a, b) => scoreOf(b) - scoreOf(a)),
  ]);
  return Object.fromEntries(entries);
}

function toExample({ url, request, body }: RecordedCall): ApiExample {
  const parameters = Object.fromEntries(new URL(url, 'http://service').searchParams);
  const text = JSON.stringify(cut({ parameters, ...(isJson(request) && { request }), response: body }));
  return JSON.parse(replacements.reduce((all, [from, to]) => all.replaceAll(from, to), text)) as ApiExample;
}

const isJson = (request: unknown): boolean =>
  typeof request === 'object' && request !== null && !Buffer.isBuffer(request);

const scoreOf = ({ request = null, response }: ApiExample): number =>
  JSON.stringify(response).length - JSON.stringify(request).length;

function cut(value: unknown): unknown {
  if (typeof value === 'string') return value.length > textMax ? `${value.slice(0, textMax)}…` : value;
  if (Array.isArray(value)) return value.slice(0, listMax).map(cut);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, cut(part)]));
}
