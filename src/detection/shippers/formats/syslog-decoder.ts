import { findEventTime, parseTime } from '../../log-ingest/events/event-time.ts';
import { composeEvent } from '../../log-ingest/events/parse-event.ts';
import { findEcsDataset, addMissing, readTextEvent, type BodyDecoder, type DecodedEvent } from './body-decoder.ts';
import { createFrameSplitter, type Frames } from './syslog-frames.ts';

/** `batch` is unique, so that a batch with the same messages as an earlier one is not taken for its repetition. */
export type SyslogBatch = { batch: string; dataset: string; receivedMs: number };

/** Returns a message of a batch: its length, the sender's address and the message. */
export function encodeMessage(sender: string, message: Buffer): Buffer {
  const origin = `${sender}\0`;
  return Buffer.concat([Buffer.from(`${Buffer.byteLength(origin) + message.length} ${origin}`), message]);
}

/** Decodes a batch of messages as `encodeMessage` returns them. The keys of a JSON object in a message become those of the event. */
export function createSyslogDecoder({ dataset, receivedMs }: SyslogBatch): BodyDecoder {
  const splitter = createFrameSplitter();
  const receivedAt = new Date(receivedMs);
  let item = 0;
  const decode = function* ({ messages }: Frames): Generator<DecodedEvent> {
    for (const message of messages) {
      item += 1;
      yield { item, ...readEvent(message, dataset, receivedAt) };
    }
  };
  return { push: (slice) => decode(splitter.push(slice)), end: () => decode(splitter.end()) };
}

function readEvent(bytes: Buffer, fallback: string, receivedAt: Date): Pick<DecodedEvent, 'dataset' | 'event'> {
  const end = bytes.indexOf(0);
  const parsed = parseSyslogMessage(bytes.toString('utf8', end + 1), receivedAt);
  const content = readTextEvent(parsed.message.replace(/^\s*@cee:\s*/, ''));
  // The time inside a JSON object is that of the event, and the time of syslog at most later.
  const ownMicros = findEventTime(content);
  const micros = ownMicros ?? parsed.timeMicros;
  const event = addMissing(content, {
    '@timestamp': ownMicros === undefined && micros !== undefined ? new Date(micros / 1000).toISOString() : undefined,
    host: parsed.host,
    program: parsed.program,
    process_id: parsed.processId,
    message_id: parsed.messageId,
    facility: parsed.facility,
    severity: parsed.severity,
    structured_data: parsed.structuredData,
    sender: bytes.toString('latin1', 0, end),
  });
  return { dataset: findEcsDataset(content) ?? fallback, event: composeEvent(event, micros) };
}

/** A syslog message. Parts that it does not have are undefined. `timeMicros` counts from 1970. */
export type SyslogMessage = {
  facility?: string | undefined;
  severity?: string | undefined;
  timeMicros?: number | undefined;
  host?: string | undefined;
  program?: string | undefined;
  processId?: string | undefined;
  messageId?: string | undefined;
  /** Parameters by element and name. */
  structuredData?: Record<string, Record<string, string>> | undefined;
  message: string;
};

// RFC 5424, section 6.2.1.
const facilities = [
  'kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news', 'uucp', 'cron', 'authpriv', 'ftp', 'ntp', 'audit', 'alert', 'clock',
  'local0', 'local1', 'local2', 'local3', 'local4', 'local5', 'local6', 'local7',
]; // prettier-ignore
const severities = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'];

const priority = /^<(\d{1,3})>/;
const header = /^1 (\S{1,64}) (\S{1,255}) (\S{1,48}) (\S{1,128}) (\S{1,32}) (?=[[-])/;
const elementsMax = 100;

/**
 * Parses a message in the format of RFC 5424, or otherwise of RFC 3164 as devices really send it: with an ISO time, a year, a sequence
 * number, or without host, time or priority. Text that fits neither is the message. `receivedAt` supplies the year that RFC 3164 omits.
 */
export function parseSyslogMessage(text: string, receivedAt: Date): SyslogMessage {
  const pri = priority.exec(text);
  const level = pri && Number(pri[1]) < facilities.length * severities.length ? Number(pri[1]) : undefined;
  const rest = level === undefined ? text : text.slice(pri![0].length);
  const levels = level === undefined ? {} : { facility: facilities[level >> 3], severity: severities[level & 7] };
  return { ...levels, ...(parseCurrentFormat(rest) ?? parseOldFormat(rest, receivedAt)) };
}

function parseCurrentFormat(text: string): SyslogMessage | undefined {
  const found = header.exec(text);
  if (!found) return undefined;
  const [time, host, program, processId, messageId] = found.slice(1).map((part) => (part === '-' ? undefined : part));
  const data = parseStructuredData(text, found[0].length);
  if (!data || (time !== undefined && parseTime(time) === undefined)) return undefined;
  const message = text.slice(data.end).replace(/^ ?(?:\u{FEFF}|\u{EF}\u{BB}\u{BF})?/u, '');
  const timeMicros = parseTime(time);
  return { timeMicros, host, program, processId, messageId, structuredData: data.elements, message };
}

const elementStart = /\[([^\s=\]"]{1,64})/y;
const parameter = / ([^\s=\]"]{1,64})="((?:[^"\\\]]|\\[^])*)"/y;

/** Parses structured data at a position. Returns undefined if it is malformed. `elements` is undefined for none (`-`). */
function parseStructuredData(
  text: string,
  from: number,
): { elements: SyslogMessage['structuredData']; end: number } | undefined {
  if (text[from] === '-') return { elements: undefined, end: from + 1 };
  const elements = new Map<string, Record<string, string>>();
  let at = from;
  while (text[at] === '[' && elements.size < elementsMax) {
    const start = matchAt(elementStart, text, at);
    if (!start) return undefined;
    at += start[0].length;
    const parameters = new Map<string, string>();
    for (let pair = matchAt(parameter, text, at); pair; pair = matchAt(parameter, text, at)) {
      parameters.set(pair[1]!, pair[2]!.replace(/\\(["\\\]])/g, '$1'));
      at += pair[0].length;
    }
    if (text[at] !== ']') return undefined;
    at += 1;
    elements.set(start[1]!, Object.fromEntries(parameters));
  }
  return elements.size === 0 ? undefined : { elements: Object.fromEntries(elements), end: at };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const sequenceNumber = /^\d{1,10}: (?=[*.]?[A-Z\d])/;
const dayTime =
  /^[*.]?([A-Z][a-z]{2}) {1,2}(\d{1,2}) (?:(\d{4}) )?(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?(?: (UTC|GMT))?:? /;
const isoTime = /^(\d{4}-\d{2}-\d{2}T\S{8,27}) /;
const origin = /^(?:([^\s:[\]]{1,255}) )?([^\s:[\]]{1,128})(?:\[([^\]\s]{1,64})\])?: ?/;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function parseOldFormat(text: string, receivedAt: Date): SyslogMessage {
  const numbered = text.slice(sequenceNumber.exec(text)?.[0].length ?? 0);
  const time = readOldTime(numbered, receivedAt);
  // Without a time nothing says that the first words are a host and a program.
  if (!time) return { message: text };
  const content = numbered.slice(time.length);
  const found = origin.exec(content);
  if (found) {
    const [, host, program, processId] = found;
    return { timeMicros: time.micros, host, program, processId, message: content.slice(found[0].length) };
  }
  const [, host, message] = /^(\S{1,255}) ([^]*)$/.exec(content) ?? [];
  return { timeMicros: time.micros, host, message: message ?? content };
}

/** Reads the time at the beginning of a text and its length. */
function readOldTime(text: string, receivedAt: Date): { micros: number; length: number } | undefined {
  const iso = isoTime.exec(text);
  const isoMicros = iso ? parseTime(iso[1]) : undefined;
  if (isoMicros !== undefined) return { micros: isoMicros, length: iso![0].length };
  const found = dayTime.exec(text);
  const month = months.indexOf(found?.[1] ?? '');
  if (!found || month === -1) return undefined;
  const [day, hour, minute, second] = [found[2], found[4], found[5], found[6]].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  const fraction = Number((found[7] ?? '').padEnd(6, '0'));
  const inYear = (year: number): number => Date.UTC(year, month, day, hour, minute, second);
  const ms = found[3] === undefined ? inYear(findYear(inYear, receivedAt)) : inYear(Number(found[3]));
  return { micros: ms * 1000 + fraction, length: found[0].length };
}

/** Returns the year in which a time without one is closest to the time of arrival. */
function findYear(inYear: (year: number) => number, receivedAt: Date): number {
  const year = receivedAt.getUTCFullYear();
  const distance = (candidate: number): number => Math.abs(inYear(candidate) - receivedAt.getTime());
  return [year - 1, year + 1].reduce((best, other) => (distance(other) < distance(best) ? other : best), year);
}
