import { eventBytesMax } from '../events/parse-event.ts';

// JSON text as bytes.

const tab = 9;
const carriageReturn = 13;
const space = 32;
export const newline = 10;
export const quote = 34;
export const comma = 44;
const colon = 58;
export const backslash = 92;
export const openList = 91;
export const closeList = 93;
export const openObject = 123;
export const closeObject = 125;

export const isSpace = (byte: number): boolean =>
  byte === space || byte === tab || byte === carriageReturn || byte === newline;

/** Returns the position of the first byte from `from` on that is no space, or the length. */
export function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at]!)) at += 1;
  return at;
}

/** Returns where the first byte that is no space is, or -1. */
export function findNonSpace(bytes: Buffer): number {
  const at = skipSpace(bytes, 0);
  return at < bytes.length ? at : -1;
}

/** Returns whether an object begins whose first line is only its bracket. */
export function isSpreadOverLines(bytes: Buffer): boolean {
  if (bytes[0] !== openObject) return false;
  let at = 1;
  while (bytes[at] === space || bytes[at] === tab || bytes[at] === carriageReturn) at += 1;
  return bytes[at] === newline;
}

/** Adds the members in `carried` to an object. */
export function addMembers(bytes: Buffer, carried: string): Buffer {
  const first = findNonSpace(bytes);
  if (bytes[first] !== openObject) return bytes;
  const next = findNonSpace(bytes.subarray(first + 1));
  const separator = bytes[first + 1 + next] === closeObject ? '' : ',';
  return Buffer.concat([Buffer.from(`{${carried}${separator}`), bytes.subarray(first + 1)]);
}

/**
 * A JSON object around the events of an export, a page of an API or a delivery. `list` is the key of the events. `metadata` are the keys that
 * may stand beside it and say nothing about the events. `carried` are keys whose texts become fields of every event.
 */
type Envelope = { list: string; metadata: readonly string[]; carried?: readonly string[] };

const pages = [
  'next', 'nextLink', 'nextPageToken', 'nextToken', 'NextToken', 'next_page_token', 'next_cursor', 'next_page', 'cursor', 'has_more', 'hasMore',
  'pagination', 'paging', 'page', 'links', 'count', 'total', 'offset', 'limit', 'size',
]; // prettier-ignore

/** An object is an envelope if its other keys than `list` are all among the metadata of one of these. */
const envelopes: readonly Envelope[] = [
  // AWS: CloudTrail and notifications of S3, SQS and SNS; `lookup-events`; GuardDuty and Security Hub.
  { list: 'Records', metadata: [] },
  { list: 'Events', metadata: pages },
  { list: 'Findings', metadata: pages },
  // CloudWatch Logs: subscriptions, then `filter-log-events` and `get-log-events`.
  { list: 'logEvents', metadata: ['messageType', 'subscriptionFilters', 'policyLevel'], carried: ['owner', 'logGroup', 'logStream'] },
  { list: 'events', metadata: [...pages, 'searchedLogStreams', 'nextForwardToken', 'nextBackwardToken', 'message', 'pageStartAt', 'pageEndAt'] },
  // Azure: diagnostic settings (Event Hubs, storage), and pages of Microsoft Graph, Defender and Azure Resource Manager.
  { list: 'records', metadata: [...pages, 'totalSize', 'done', 'nextRecordsUrl'] },
  { list: 'value', metadata: [...pages, '@odata.context', '@odata.count', '@odata.nextLink', '@odata.deltaLink', '@nextLink'] },
  // Kubernetes (`EventList`, `List`), Google Workspace, 1Password and Sophos Central.
  { list: 'items', metadata: [...pages, 'kind', 'apiVersion', 'metadata', 'etag'] },
  // Google Cloud Logging, Slack and Box.
  { list: 'entries', metadata: [...pages, 'response_metadata', 'ok', 'chunk_size', 'next_stream_position'] },
  // Atlassian, SentinelOne, Netskope, Cisco, Bitwarden and others.
  { list: 'data', metadata: [...pages, 'object', 'continuationToken', 'first_id', 'last_id', 'meta', 'metadata', 'errors', 'version', 'jsonapi', 'status', 'success', 'ok', 'msg', 'message'] },
  // CrowdStrike, Cloudflare, ServiceNow and Netskope, Splunk, Elastic and others.
  { list: 'resources', metadata: ['meta', 'errors'] },
  { list: 'result', metadata: [...pages, 'result_info', 'success', 'errors', 'messages', 'ok', 'wait_time', 'timestamp_hwm', 'status'] },
  { list: 'results', metadata: [...pages, 'preview', 'init_offset', 'messages', 'fields', 'highlighted', 'post_process_count', 'previous', 'status', 'success'] },
  // Tailscale, Auth0 and other APIs of logs.
  { list: 'logs', metadata: [...pages, 'version', 'tailnetId', 'start', 'length'] },
]; // prettier-ignore

/** Where the elements of an envelope's list begin, and the members that each element gets, as JSON text without braces. */
type EnvelopeMatch = { listStart: number; carried: string };

type Member = { key: string; start: number; end: number; isList: boolean };

const knownKeys = new Set(envelopes.flatMap(({ list, metadata, carried = [] }) => [list, ...metadata, ...carried]));
const keyCharsMax = Math.max(...[...knownKeys].map((key) => key.length));
const listKeys = new Set(envelopes.map(({ list }) => list));

/** The value is not complete in the bytes received so far. */
const incomplete = -1;
const invalid = -2;

// Every event of a list gets these bytes.
const carriedBytesMax = 600;

/**
 * Returns where the events of an envelope are whose object begins at `from`, or null if the object is an event itself. Reads an ordinary event
 * only up to its first key that no envelope has. Returns undefined if more bytes are needed, which follow unless `isEnd`. An object without a
 * valid end is an envelope only if it `mayBeOpen`, because it is larger than an event or the last of the body.
 */
export function findEnvelope(
  bytes: Buffer,
  from: number,
  { isEnd, mayBeOpen }: { isEnd: boolean; mayBeOpen: boolean },
): EnvelopeMatch | null | undefined {
  const members: Member[] = [];
  const matchOpen = (): EnvelopeMatch | null =>
    mayBeOpen && members.some(({ isList }) => isList) ? match(bytes, members) : null;
  const decide = (): EnvelopeMatch | null | undefined =>
    !isEnd && bytes.length - from <= eventBytesMax ? undefined : matchOpen();
  let at = skipSpace(bytes, from + 1);
  for (;;) {
    if (at >= bytes.length) return decide();
    if (bytes[at] !== quote) return null;
    const keyEnd = bytes.indexOf(quote, at + 1);
    if (keyEnd < 0) return bytes.length - at > keyCharsMax + 1 ? null : decide();
    const key = keyEnd - at > keyCharsMax + 1 ? '' : bytes.toString('latin1', at + 1, keyEnd);
    if (!knownKeys.has(key)) return null;
    at = skipSpace(bytes, keyEnd + 1);
    if (at >= bytes.length) return decide();
    if (bytes[at] !== colon) return null;
    const start = skipSpace(bytes, at + 1);
    if (start >= bytes.length) return decide();
    const isList = listKeys.has(key) && isListOfObjects(bytes, start);
    const end = findValueEnd(bytes, start);
    if (end === invalid) return null;
    members.push({ key, start, end, isList });
    if (end === incomplete) return decide();
    at = skipSpace(bytes, end);
    if (at >= bytes.length) return decide();
    if (bytes[at] === closeObject) return match(bytes, members);
    if (bytes[at] !== comma) return matchOpen();
    at = skipSpace(bytes, at + 1);
  }
}

/** Returns whether an object that begins with `{` at `from` begins with a key of an envelope, or is too short to tell. */
export function mayBeEnvelope(bytes: Buffer, from: number): boolean {
  const at = skipSpace(bytes, from + 1);
  if (at >= bytes.length) return true;
  if (bytes[at] !== quote) return false;
  for (let end = at + 1; end <= at + 1 + keyCharsMax; end += 1) {
    if (end >= bytes.length) return true;
    if (bytes[end] === quote) return knownKeys.has(bytes.toString('latin1', at + 1, end));
  }
  return false;
}

function match(bytes: Buffer, members: Member[]): EnvelopeMatch | null {
  for (const envelope of envelopes) {
    const list = members.find(({ key, isList }) => isList && key === envelope.list);
    if (!list || members.some((member) => member !== list && !isBeside(envelope, member.key))) continue;
    const carried = members
      .filter(({ key, start }) => envelope.carried?.includes(key) && bytes[start] === quote)
      .map(({ key, start, end }) => `"${key}":${bytes.toString('utf8', start, end)}`)
      .join(',');
    return { listStart: list.start + 1, carried: Buffer.byteLength(carried) > carriedBytesMax ? '' : carried };
  }
  return null;
}

const isBeside = ({ metadata, carried = [] }: Envelope, key: string): boolean =>
  metadata.includes(key) || carried.includes(key);

/** Returns whether a list with objects, or an empty one, begins at `start`. */
function isListOfObjects(bytes: Buffer, start: number): boolean {
  if (bytes[start] !== openList) return false;
  const first = bytes[skipSpace(bytes, start + 1)];
  return first === undefined || first === openObject || first === closeList;
}

/** Returns the position after the value that begins at `start`. A string with a line break is invalid: it ends with its line. */
function findValueEnd(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte === quote) {
      at = findStringEnd(bytes, at + 1);
      if (at < 0) return at;
      if (depth === 0) return at + 1;
    } else if (byte === openObject || byte === openList) depth += 1;
    else if (byte === closeObject || byte === closeList) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && byte === comma) return at;
  }
  return incomplete;
}

/** Returns the position of the quote that ends a string whose text begins at `start`. */
function findStringEnd(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte === quote) return at;
    if (byte === backslash) at += 1;
    else if (byte === newline) return invalid;
  }
  return incomplete;
}
