import {
  openJson,
  sealJson,
  type SealedColumn,
  type SealedRecord,
  type Secretbox,
} from '../../platform/lib/secrets/secretbox.ts';

const kind = 'connection';
export const credentialsColumn: SealedColumn = { table: 'connections', column: 'sealed', kind };

export const sealCredentials = (secrets: Secretbox, connection: SealedRecord, credentials: unknown): Buffer =>
  sealJson(secrets, kind, connection, credentials);

export const openCredentials = (secrets: Secretbox, connection: SealedRecord & { sealed: Buffer }): unknown =>
  openJson(secrets, kind, connection, connection.sealed);
