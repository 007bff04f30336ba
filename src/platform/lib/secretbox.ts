import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { appError } from './errors.ts';

/** `context` identifies the owner of a secret (organization and record), so a sealed text copied to another row does not open there. */
export type Secretbox = {
  seal: (text: string, context: string) => Buffer;
  /** Throws if the key or the context differs or the sealed bytes were modified. */
  open: (sealed: Buffer, context: string) => string;
};

const version = 1;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Seals stored secrets with AES-256-GCM. The key comes from TOCSIN_SECRET_KEY. Without that setting and with the embedded database it
 * comes from a file in the data directory, created on first use. An external database requires the setting, since several machines
 * must share the key.
 */
export function createSecretbox(settings: {
  secretKey: string | undefined;
  dataDir: string;
  databaseUrl: string | undefined;
}): Secretbox {
  let cachedKey: Buffer | undefined;
  const key = (): Buffer => (cachedKey ??= deriveKey(settings.secretKey ?? readOrCreateKeyFile(settings)));
  return {
    seal: (text, context) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key(), nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), body]);
    },
    open: (sealed, context) => {
      if (sealed[0] !== version) throw new Error('A stored secret has an unknown format.');
      const nonce = sealed.subarray(1, 1 + nonceBytes);
      const tag = sealed.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes);
      const cipher = createDecipheriv('aes-256-gcm', key(), nonce).setAAD(Buffer.from(context)).setAuthTag(tag);
      try {
        const text = cipher.update(sealed.subarray(1 + nonceBytes + tagBytes));
        return Buffer.concat([text, cipher.final()]).toString('utf8');
      } catch (error) {
        throw new Error(
          'A stored secret cannot be decrypted: TOCSIN_SECRET_KEY differs from the key that encrypted it.',
          {
            cause: error,
          },
        );
      }
    },
  };
}

const deriveKey = (text: string): Buffer => Buffer.from(hkdfSync('sha256', text, '', 'tocsin secretbox 1', 32));

function readOrCreateKeyFile({ dataDir, databaseUrl }: { dataDir: string; databaseUrl: string | undefined }): string {
  if (databaseUrl !== undefined) {
    throw appError(
      'conflict',
      'Stored secrets are encrypted. Set TOCSIN_SECRET_KEY (at least 32 characters) and restart.',
    );
  }
  const path = join(dataDir, 'secret.key');
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
