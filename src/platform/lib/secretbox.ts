import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { appError } from './errors.ts';

/** `context` identifies the owner of a secret (organization and record), so a sealed text copied to another row does not open there. */
export type Secretbox = {
  seal: (text: string, context: string) => Buffer;
  /** Throws if the key or the context differs or the sealed bytes were modified. */
  open: (sealed: Buffer, context: string) => string;
  /** Seals with the current key what the previous one sealed. Returns undefined if it is sealed with the current key. Throws as `open` does. */
  reseal: (sealed: Buffer, context: string) => Buffer | undefined;
};

export type SecretboxSettings = {
  secretKey: string | undefined;
  /** A key that still opens secrets, but seals none. */
  previousSecretKey?: string | undefined;
  dataDir: string;
  databaseUrl: string | undefined;
};

/** A sealed value belongs to another key or context, or was modified. */
export class UnreadableSecretError extends Error {}

const version = 1;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Seals stored secrets with AES-256-GCM. The key comes from TOCSIN_SECRET_KEY. Without that setting and with the embedded database it
 * comes from a file in the data directory, created on first use. An external database requires the setting, since several machines
 * must share the key.
 */
export function createSecretbox(settings: SecretboxSettings): Secretbox {
  const { previousSecretKey } = settings;
  let cachedKey: Buffer | undefined;
  const key = (): Buffer => (cachedKey ??= deriveKey(settings.secretKey ?? readOrCreateKeyFile(settings)));
  const previousKey = previousSecretKey === undefined ? undefined : deriveKey(previousSecretKey);
  const seal = (text: string, context: string): Buffer => {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', key(), nonce).setAAD(Buffer.from(context));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), body]);
  };
  const open = (sealed: Buffer, context: string): { text: string; isCurrent: boolean } => {
    const text = decrypt(key(), sealed, context);
    if (text !== undefined) return { text, isCurrent: true };
    const previousText = previousKey && decrypt(previousKey, sealed, context);
    if (previousText === undefined)
      throw new UnreadableSecretError(
        'A stored secret cannot be decrypted: TOCSIN_SECRET_KEY differs from the key that encrypted it.',
      );
    return { text: previousText, isCurrent: false };
  };
  return {
    seal,
    open: (sealed, context) => open(sealed, context).text,
    reseal: (sealed, context) => {
      const { text, isCurrent } = open(sealed, context);
      return isCurrent ? undefined : seal(text, context);
    },
  };
}

/** Returns undefined if the key or the context differs or the sealed bytes were modified. */
function decrypt(key: Buffer, sealed: Buffer, context: string): string | undefined {
  if (sealed[0] !== version) throw new UnreadableSecretError('A stored secret has an unknown format.');
  const nonce = sealed.subarray(1, 1 + nonceBytes);
  const tag = sealed.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context)).setAuthTag(tag);
  try {
    const text = decipher.update(sealed.subarray(1 + nonceBytes + tagBytes));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

const deriveKey = (text: string): Buffer => Buffer.from(hkdfSync('sha256', text, '', 'tocsin secretbox 1', 32));

/** Returns the path of the generated key, which is used if neither TOCSIN_SECRET_KEY nor DATABASE_URL is set. */
export const keyFilePath = (dataDir: string): string => join(dataDir, 'secret.key');

function readOrCreateKeyFile({ dataDir, databaseUrl }: { dataDir: string; databaseUrl: string | undefined }): string {
  if (databaseUrl !== undefined) {
    throw appError(
      'conflict',
      'Stored secrets are encrypted. Set TOCSIN_SECRET_KEY (at least 32 characters) and restart.',
    );
  }
  const path = keyFilePath(dataDir);
  mkdirSync(dataDir, { recursive: true });
  try {
    writeFileSync(path, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const text = readFileSync(path, 'utf8').trim();
  if (text.length < 32)
    throw new Error(`${path} does not contain a key. Restore it: secrets encrypted with it cannot be read without it.`);
  return text;
}

/** The database record that a sealed value belongs to. */
export type SealedRecord = { organization_id: string; id: string };

/** A column of sealed values. `kind` is part of what they are bound to. */
export type SealedColumn = { table: string; column: string; kind: string };

/** Returns a sealed value under the current key, or undefined if it is under that key already. */
export const resealJson = (
  secrets: Secretbox,
  kind: string,
  record: SealedRecord,
  sealed: Buffer,
): Buffer | undefined => secrets.reseal(sealed, sealContext(kind, record));

/** Seals a value as JSON. It opens only with the same kind, organization and record ID. */
export function sealJson(secrets: Secretbox, kind: string, record: SealedRecord, value: unknown): Buffer {
  return secrets.seal(JSON.stringify(value), sealContext(kind, record));
}

export function openJson<T>(secrets: Secretbox, kind: string, record: SealedRecord, sealed: Buffer): T {
  return JSON.parse(secrets.open(sealed, sealContext(kind, record))) as T;
}

const sealContext = (kind: string, { organization_id, id }: SealedRecord): string => `${kind}/${organization_id}/${id}`;
