import { appError } from '../../../platform/lib/errors.ts';

/** Throws 415 for a Content-Encoding other than gzip and zstd. */
export function requireKnownEncoding(headers: Record<string, string | string[] | undefined>): void {
  const encoding = String(headers['content-encoding'] ?? 'identity')
    .trim()
    .toLowerCase();
  if (!['identity', 'gzip', 'x-gzip', 'zstd'].includes(encoding))
    throw appError('unsupported_media_type', 'The supported values of Content-Encoding are gzip and zstd.');
}

/** Returns the bytes of a body. Throws 400 if there are none. */
export function requireBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body) && body.length > 0) return body;
  throw appError('validation_failed', 'The request body is empty.', {
    errors: [{ pointer: '', code: 'required', detail: 'A body with events is required.' }],
  });
}
