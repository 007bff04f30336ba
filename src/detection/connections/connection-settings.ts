import { parseFields } from '../../platform/lib/kind-fields.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { createAllowList } from '../../platform/lib/outbound-http/addresses.ts';
import { remoteConnectors, type RemoteSiemType } from '../siem/connectors/registry.ts';
import {
  openJson,
  sealJson,
  type SealedColumn,
  type SealedRecord,
  type Secretbox,
} from '../../platform/lib/secretbox.ts';

/** Returns the settings parsed by the connector's schema, with defaults. Throws a 400 for invalid settings and for an address without TLS. */
export function validateSettings(
  kind: RemoteSiemType,
  input: unknown,
  allow: readonly string[],
): Record<string, unknown> {
  const connector = remoteConnectors[kind];
  const settings = parseFields(connector.settings, input, '/settings');
  const plain = connector.findUnencryptedHost(settings);
  if (plain && !createAllowList(allow)(plain.host, plain.host)) {
    const detail = `${plain.field}: ${plain.host} requires TLS, unless TOCSIN_FETCH_ALLOW lists it.`;
    throw fieldError(`/settings/${plain.field}`, 'tls_needed', detail);
  }
  return settings as Record<string, unknown>;
}

export const validateCredentials = (kind: RemoteSiemType, input: unknown): unknown =>
  parseFields(remoteConnectors[kind].credentials, input, '/credentials');

/** Returns the requested clock, or else `ingest` if the settings name a column for it. Throws a 400 for `ingest` without such a column. */
export function chooseClock(
  kind: RemoteSiemType,
  settings: unknown,
  requested: 'ingest' | 'event' | undefined,
): 'ingest' | 'event' {
  const canIngest = remoteConnectors[kind].supportsIngestClock(settings);
  if (requested === 'ingest' && !canIngest)
    throw fieldError(
      '/clock',
      'no_ingest_column',
      'The clock ingest requires a column for the ingest time in the settings.',
    );
  return requested ?? (canIngest ? 'ingest' : 'event');
}

const kind = 'connection';
export const credentialsColumn: SealedColumn = { table: 'connections', column: 'sealed', kind };

export const sealCredentials = (secrets: Secretbox, connection: SealedRecord, credentials: unknown): Buffer =>
  sealJson(secrets, kind, connection, credentials);

export const openCredentials = (secrets: Secretbox, connection: SealedRecord & { sealed: Buffer }): unknown =>
  openJson(secrets, kind, connection, connection.sealed);
