import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { appError } from './errors.ts';

/** `context` names what a secret belongs to (organization and record): a sealed text moved to another row does not open there. */
export type Secretbox = {
  seal: (text: string, context: string) => Buffer;
  /** Throws where key or context is another one, or a bit has changed. */
  open: (sealed: Buffer, context: string) => string;
};

const version = 1;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Seals secrets that are stored, with AES-256-GCM. The key comes from the setting; without one from a file of the data directory, which is
 * made on first use, but only where the database stands there too: with a database elsewhere several machines must have the same key.
 */
export function createSecretbox(settings: {
  secretKey: string | undefined;
  dataDir: string;
  databaseUrl: string | undefined;
}): Secretbox {
  let known: Buffer | undefined;
  const key = (): Buffer => (known ??= derive(settings.secretKey ?? keyOfDirectory(settings)));
  return {
    seal: (text, context) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key(), nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), body]);
    },
    open: (sealed, context) => {
      if (sealed[0] !== version) throw new Error('a stored secret is of an unknown form');
      const nonce = sealed.subarray(1, 1 + nonceBytes);
      const tag = sealed.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes);
      const cipher = createDecipheriv('aes-256-gcm', key(), nonce).setAAD(Buffer.from(context)).setAuthTag(tag);
      try {
        const text = cipher.update(sealed.subarray(1 + nonceBytes + tagBytes));
        return Buffer.concat([text, cipher.final()]).toString('utf8');
      } catch (error) {
        throw new Error('a stored secret does not open: TOCSIN_SECRET_KEY is not the one that sealed it', {
          cause: error,
        });
      }
    },
  };
}

const derive = (text: string): Buffer => Buffer.from(hkdfSync('sha256', text, '', 'tocsin secretbox 1', 32));

function keyOfDirectory({ dataDir, databaseUrl }: { dataDir: string; databaseUrl: string | undefined }): string {
  if (databaseUrl !== undefined) {
    throw appError(
      'conflict',
      'Secrets are stored encrypted: set TOCSIN_SECRET_KEY (at least 32 characters) and start again.',
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
  if (text.length < 32) throw new Error(`${path} holds no key; restore it, since what it sealed opens with no other`);
  return text;
}
