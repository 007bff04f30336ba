import { matchAt, type Emit } from './candidate.ts';

const reach = 60;
const before = (text: string, start: number): string => text.slice(Math.max(0, start - reach), start);

/** Digits alone mean something only beside the word that names them. */
export function readDigits(text: string, start: number, end: number, emit: Emit): void {
  if (end - start === 15 && /\bimei\b[^\d\n]{0,24}$/i.test(before(text, start))) emit('imei', start, end);
  if (end - start === 12 && /\b(?:aws|amazon)\b[^\d\n]{0,40}\baccounts?\b[^\d\n]{0,16}$/i.test(before(text, start)))
    emit('aws_account', start, end);
}

/** Hexadecimal words of another length than a digest's, and of a digest's with another meaning. True where it was one. */
export function readHex(text: string, start: number, end: number, emit: Emit): boolean {
  const length = end - start;
  if (length !== 32 && length > 40) return false;
  const lead = before(text, start);
  const isSerial = /\bserial(?: number| no\.?)?["'`:=\s|]{1,8}$/i.test(lead);
  if (isSerial) emit('cert_serial', start, end);
  const isJa3 = length === 32 && /\bja3s?\b[^\n]{0,24}$/i.test(lead);
  if (isJa3) emit('observable:ja3', start, end);
  return isSerial || isJa3;
}

/** A GUID means something only beside what it names. */
export function readGuid(text: string, start: number, end: number, emit: Emit): void {
  const lead = before(text, start);
  if (/\btenant(?:\s?id)?["'`:\s=|(]{0,6}$/i.test(lead)) emit('azure_tenant', start, end);
  else if (/\b(?:app(?:lication)?|client)(?:\s?id)["'`:\s=|(]{0,6}$/i.test(lead)) emit('azure_app', start, end);
}

const mutex = /(?:Global|Local)\\[\w{}.-]{3,80}/y;

/** `Global\name` beside the word mutex, or in its section, is one. */
export function readMutex(text: string, start: number, emit: Emit): number {
  const match = matchAt(mutex, text, start);
  if (!match) return start;
  const end = start + match[0].replace(/[.]+$/, '').length;
  if (/\bmutex/i.test(text.slice(Math.max(0, start - 200), start))) emit('observable:mutex', start, end);
  return end;
}

const agent = /Mozilla\/\d[^\n"`|\u201C\u201D]{10,240}/y;

export function readUserAgent(text: string, start: number, emit: Emit): number {
  const match = matchAt(agent, text, start);
  if (!match) return start;
  const end = start + match[0].trimEnd().length;
  emit('observable:user-agent', start, end);
  return end;
}

const hosted =
  /^([a-z0-9][a-z0-9-]{1,61}[a-z0-9])\.(?:s3(?:[.-][a-z0-9-]{4,20})?\.amazonaws\.com|blob\.core\.windows\.net)$/i;
const underPath = /\/([a-z0-9][a-z0-9._-]{1,61}[a-z0-9])(?![\w.-])/y;

/** The bucket that a host of an object store names, before it or as the first folder behind it. */
export function readBucketHost(text: string, start: number, end: number, emit: Emit): void {
  const last = text.charCodeAt(end - 1) | 32;
  if (last !== 0x6d && last !== 0x74) return;
  const host = text.slice(start, end);
  const named = hosted.exec(host);
  if (named) emit('bucket', start, start + named[1]!.length);
  if (host.toLowerCase() !== 'storage.googleapis.com') return;
  const folder = matchAt(underPath, text, end);
  if (folder) emit('bucket', end + 1, end + 1 + folder[1]!.length);
}
