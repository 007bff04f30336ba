import type { z } from 'zod';
import { appError, fieldError, describeIssue, type FieldError } from '../../platform/lib/errors.ts';
import { createAllowList } from '../../platform/lib/outbound-http/public-address.ts';
import type { RemoteConnector } from '../siem/connector.ts';
import { remoteConnectors, type RemoteKind } from '../siem/registry.ts';

/** A connector with the types of its settings left out: each gets what its own schemas read. */
export const getConnector = (kind: RemoteKind): RemoteConnector<unknown, unknown> => remoteConnectors[kind];

/** Settings as the connector's schema reads them, defaults filled in. 400 for each that is wrong, and for one that would send credentials in the clear. */
export function validateSettings(kind: RemoteKind, given: unknown, allow: readonly string[]): Record<string, unknown> {
  const connector = getConnector(kind);
  const settings = read(connector.settings, given, '/settings');
  const plain = connector.plainHost(settings);
  if (plain && !createAllowList(allow)(plain.host, plain.host)) {
    const detail = `${plain.field}: ${plain.host} is not reached without TLS (TOCSIN_FETCH_ALLOW can permit it).`;
    throw fieldError(`/settings/${plain.field}`, 'tls_needed', detail);
  }
  return settings as Record<string, unknown>;
}

export const validateCredentials = (kind: RemoteKind, given: unknown): unknown =>
  read(getConnector(kind).credentials, given, '/credentials');

/** The clock that is asked for, else the better one that the settings allow. 400 for `ingest` without a column. */
export function chooseClock(
  kind: RemoteKind,
  settings: unknown,
  asked: 'ingest' | 'event' | undefined,
): 'ingest' | 'event' {
  const canIngest = getConnector(kind).canIngest(settings);
  if (asked === 'ingest' && !canIngest)
    throw fieldError('/clock', 'no_ingest_column', 'The clock ingest needs a column for it in the settings.');
  return asked ?? (canIngest ? 'ingest' : 'event');
}

function read<T>(schema: z.ZodType<T>, given: unknown, at: string): T {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.flatMap((issue) => errorsOf(issue, at)).slice(0, 20);
  throw appError('validation_failed', `${errors[0]!.pointer}: ${errors[0]!.detail}`, { errors });
}

function errorsOf(issue: z.core.$ZodIssue, at: string): FieldError[] {
  const pointer = [at, ...issue.path].join('/');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      pointer: `${pointer}/${key}`,
      code: 'unknown_field',
      detail: `${key} is no field of this kind.`,
    }));
  return [{ pointer, code: issue.code, detail: describeIssue(issue.message) }];
}
